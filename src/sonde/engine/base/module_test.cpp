// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/module.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>

#include "sonde/engine/base/test_module.h"
#include "tests/support/child.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
using testing::TestFunctions;

Module named(const char* name) { return {.name = name, .library = "Harpsichord", .package = "libharpsichord1"}; }

TEST(Module, IsNotThereBeforeItsFirstUseAndStaysAfterIt) {
  // Each test has a process of its own, or opens this one again.
  const auto& functions = functions_of<TestFunctions>(named("test"));
  EXPECT_EQ(functions.twice(21), 42);
  EXPECT_EQ(&functions_of<TestFunctions>(named("test")), &functions) << "one table for all callers";
}

TEST(Module, ItsSymbolsStayItsOwn) {
  (void)functions_of<TestFunctions>(named("test"));
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "sonde_module"), nullptr);
}

TEST(Module, IsLookedForBesideTheProgramFirst) {
  const std::vector<std::string> folders = module_folders();
  ASSERT_FALSE(folders.empty());
  EXPECT_EQ(folders.front(), std::filesystem::read_symlink("/proc/self/exe").parent_path().string());
}

TEST(Module, ThatIsMissingNamesFoldersAndPackage) {
  const std::string text =
      testing::error_of(ErrorKind::not_supported, [] { (void)functions_of<TestFunctions>(named("none")); });
  EXPECT_THAT(text, HasSubstr("error: Harpsichord: sonde_none.so was not found in " + module_folders().front()));
  EXPECT_THAT(text,
              HasSubstr("\nhint: it is part of sonde, built where libharpsichord1 and their headers are installed"));
}

TEST(Module, WhoseLibraryIsNotInstalledNamesItAndThePackage) {
  const std::string text =
      testing::error_of(ErrorKind::not_supported, [] { (void)functions_of<TestFunctions>(named("test_unlinked")); });
  EXPECT_THAT(text, HasSubstr("error: Harpsichord: "));
  EXPECT_THAT(text,
              HasSubstr("/sonde_test_unlinked.so cannot be loaded: libharpsichord.so.1: cannot open shared object "
                        "file: No such file or directory\nhint: install libharpsichord1"));
}

TEST(Module, OfAnotherVersionIsRefused) {
  const std::string text =
      testing::error_of(ErrorKind::not_supported, [] { (void)functions_of<TestFunctions>(named("test_old")); });
  EXPECT_THAT(text, HasSubstr("/sonde_test_old.so is of another build (sonde 0.0.1); expected one of sonde "));
  EXPECT_THAT(text, HasSubstr("\nhint: install sonde again"));
}

TEST(Module, OfAnotherTableIsRefused) {
  struct More {
    int (*twice)(int);
    int (*thrice)(int);
  };
  EXPECT_THAT(testing::error_of(ErrorKind::not_supported, [] { (void)functions_of<More>(named("test")); }),
              HasSubstr("sonde_test.so is of another build"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which reserve terabytes of addresses themselves
TEST(Module, ThatDoesNotFitIntoTheAddressSpaceIsAnErrorOfMemory) {
  const std::string text = testing::text_from_child([] {
    const rlimit limit{rlim_t{500} << 20, rlim_t{500} << 20};
    setrlimit(RLIMIT_AS, &limit);
    return testing::error_of(ErrorKind::budget, [] { (void)functions_of<TestFunctions>(named("test_large")); });
  });
  EXPECT_THAT(text, HasSubstr("error: Harpsichord: the address space does not suffice to load /"));
  EXPECT_THAT(text, HasSubstr("\nhint: raise the limit of the address space (ulimit -v)"));
}
#endif

}  // namespace
}  // namespace sonde
