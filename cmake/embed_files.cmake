# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=... -DOUTPUT=assets.cpp -DWHY_NOT=... -P embed_files.cmake: writes the table of assets.h over all files
# below FOLDER. The assembler draws the bytes in, which takes no time; the hash in the text makes the compiler run again
# when only a file's content has changed.
set(type_html "text/html; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_json "application/json")
set(type_webmanifest "application/manifest+json")
set(type_svg "image/svg+xml")
set(type_png "image/png")
set(type_ico "image/x-icon")
set(type_woff2 "font/woff2")
set(type_wasm "application/wasm")
set(type_txt "text/plain; charset=utf-8")

file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
list(FILTER files EXCLUDE REGEX "\\.map$")
list(SORT files)
if(NOT EXISTS ${FOLDER}/index.html)
  message(FATAL_ERROR "${FOLDER} holds no index.html: nothing to embed")
endif()

set(bytes)
set(declarations)
set(table)
set(count 0)
foreach(file IN LISTS files)
  string(REGEX REPLACE ".*\\.([a-z0-9]+)$" "\\1" extension ${file})
  if(NOT DEFINED type_${extension})
    message(FATAL_ERROR "${FOLDER}/${file}: the media type of .${extension} is not known; cmake/embed_files.cmake lists them")
  endif()
  file(SHA256 ${FOLDER}/${file} hash)
  string(SUBSTRING ${hash} 0 32 hash)
  file(SIZE ${FOLDER}/${file} size)
  set(lasting false)
  if(file MATCHES "^assets/.+-[A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-]\\.[a-z0-9]+$")
    set(lasting true)
  endif()
  string(APPEND bytes "  .hidden sonde_asset_${count}\n  .global sonde_asset_${count}\nsonde_asset_${count}:\n  .incbin \"${FOLDER}/${file}\"\n  .byte 0\n")
  string(APPEND declarations "extern \"C\" const std::byte sonde_asset_${count}[];\n")
  string(APPEND table "    {\"/${file}\", \"${type_${extension}}\", \"\\\"${hash}\\\"\", ${lasting}, {sonde_asset_${count}, ${size}}},\n")
  math(EXPR count "${count} + 1")
endforeach()

file(WRITE ${OUTPUT} "// SPDX-License-Identifier: Apache-2.0
// Written by cmake/embed_files.cmake from ${FOLDER}.
#include \"sonde/app/serve/assets.h\"

asm(R\"(
  .pushsection .rodata
${bytes}  .popsection
)\");

${declarations}
namespace sonde::serve {

std::span<const Asset> viewer_assets() {
  static const Asset assets[] = {
${table}  };
  return assets;
}

std::string_view why_no_viewer() { return \"${WHY_NOT}\"; }

}  // namespace sonde::serve
")
