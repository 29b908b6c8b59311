// Makes newer_apis.json from MDN's @mdn/browser-compat-data (CC0): npm install @mdn/browser-compat-data && node make_newer_apis.mjs

import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";

const data = createRequire(import.meta.url)("@mdn/browser-compat-data");
const OLDEST = { chrome: 93, chrome_android: 93, safari: 15.4, safari_ios: 15.4, firefox: 96, firefox_android: 96, samsunginternet_android: 17 };

/** The version in which a browser first had something for good; Infinity for never. */
function since(support, browser) {
  const [first] = [support[browser]].flat();
  const version = Number.parseFloat(String(first?.version_added).replace("≤", ""));
  return Number.isNaN(version) || first.flags || first.prefix || first.alternative_name ? Infinity : version;
}

/** Whether the oldest supported version of some browser lacks it. */
function newer({ __compat: compat }) {
  return compat && Object.entries(OLDEST).some(([browser, oldest]) => since(compat.support, browser) > oldest);
}

const found = new Set();
for (const [tree, statics] of [[data.javascript.builtins, true], [data.api, false]]) {
  for (const [name, node] of Object.entries(tree)) {
    if (newer(node)) found.add(name);
    for (const [member, child] of Object.entries(node)) {
      const bare = member.replace(/_static$/, "");
      if (!newer(child) || newer(node) || bare === name || !/^[A-Za-z]\w*$/.test(bare) || /_event$/.test(bare)) continue;
      const owner = name === "TypedArray" ? "Int8Array.__proto__" : name;
      if (statics || bare !== member) found.add(`${owner}.${bare}`);
      if (bare === member) found.add(`${owner}.prototype.${bare}`);
    }
  }
}
writeFileSync(new URL("newer_apis.json", import.meta.url), `${JSON.stringify([...found].sort()).replaceAll(",", ",\n")}\n`);
