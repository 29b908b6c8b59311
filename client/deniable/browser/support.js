/**
 * Browser support check: a classic script in old syntax, the page's first program. It checks for every feature that the page needs,
 * and shows in the page's language if one is missing, or if the modules fail to load or run. The modules start only after it has
 * marked the page as `checked`.
 *
 * Object.hasOwn, Array.prototype.at and navigator.locks are newer than all syntax of the modules: Chrome 93, Safari 15.4, Firefox 96.
 */
(function () {
  "use strict";
  var NEEDS = [
    "fetch", "AbortController", "URLSearchParams", "TextEncoder", "TextDecoder", "atob", "btoa", "BigInt", "Intl.PluralRules",
    "Object.hasOwn", "Object.entries", "Object.fromEntries", "Array.prototype.at", "Array.prototype.flat", "Array.prototype.flatMap",
    "String.prototype.padStart", "String.prototype.replaceAll", "DataView.prototype.getBigUint64",
    "Element.prototype.closest", "Element.prototype.replaceChildren", "Element.prototype.replaceWith", "Element.prototype.toggleAttribute",
    "HTMLScriptElement.prototype.noModule", "HTMLTemplateElement.prototype.content", "history.pushState"
  ];
  var NEEDS_HTTPS = ["crypto.subtle.digest", "navigator.locks.request"]; // no browser has them without HTTPS; the page explains that itself

  function has(path) {
    var value = window, parts = path.split("."), i;
    for (i = 0; i < parts.length; i += 1) {
      if (value === undefined || value === null || !(parts[i] in Object(value))) return false;
      if (i + 1 < parts.length) value = value[parts[i]]; // the last part may be a getter that works on elements only
    }
    return true;
  }

  function missing(paths) {
    var names = [], i;
    for (i = 0; i < paths.length; i += 1) if (!has(paths[i])) names.push(paths[i]);
    return names;
  }

  var main = document.querySelector("main");

  function holdsRecord(key) {
    return JSON.parse(localStorage.getItem(key) || "{}").epsilon !== undefined;
  }

  /** Returns the state of `send_state.mjs`: a record of the link's survey, of another one, or no record. */
  function sendState() {
    var digest, key, i, state = "fresh";
    try {
      digest = (/[#&]digest=([0-9a-f]{64})(?![0-9a-f])/i.exec(location.hash) || [])[1];
      if (digest && holdsRecord("deniable:" + digest.toLowerCase())) return "kept";
      for (i = 0; i < localStorage.length; i += 1) {
        key = localStorage.key(i);
        if (key.indexOf("deniable:") === 0 && holdsRecord(key)) state = "unknown";
      }
      return state;
    } catch (error) {
      return "unknown"; // the storage is blocked or has an invalid entry
    }
  }

  /** Shows the sentences that are true in a state, and hides the others. */
  function showSent(state) {
    var elements = document.querySelectorAll("[data-sent]"), i;
    for (i = 0; i < elements.length; i += 1) {
      if ((" " + elements[i].getAttribute("data-sent") + " ").indexOf(" " + state + " ") < 0) elements[i].setAttribute("hidden", "");
      else elements[i].removeAttribute("hidden");
    }
  }

  /** Replaces the loading section by another. Afterwards, or on other pages, does nothing. */
  function stop(id, detail) {
    var loading = document.getElementById("loading"), section = document.getElementById(id);
    if (!loading || !section || loading.hasAttribute("hidden")) return;
    loading.setAttribute("hidden", "");
    section.removeAttribute("hidden");
    section.querySelector("[data-slot=detail]").textContent = detail;
    section.querySelector("h1").focus();
  }

  /** Returns the file name of one of this page's scripts; undefined for others. */
  function own(address) {
    return (/\/browser\/((?:types\/)?[a-z_]+\.m?js)$/.exec(address || "") || [])[1];
  }

  window.addEventListener("error", function (event) {
    var file = own(event.filename || (event.target && event.target.src));
    if (file) stop("broken", file);
  }, true);

  // Every script has run or failed. This file did not hear earlier errors, so it checks.
  window.addEventListener("load", function () {
    var script = document.querySelector("script[type=module][src^='/browser/']");
    if (script && main.getAttribute("data-support") === "checked") stop("broken", own(script.src));
  });

  showSent(sendState());
  var lacking = missing(window.isSecureContext === false ? NEEDS : NEEDS.concat(NEEDS_HTTPS));
  main.setAttribute("data-support", lacking.length ? "lacking" : "checked");
  if (lacking.length) stop("unsupported", lacking.join(", "));
}());
