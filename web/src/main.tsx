// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";

const root = document.getElementById("page");
if (root) render(<p>sonde</p>, root);
