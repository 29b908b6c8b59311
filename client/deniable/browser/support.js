/**
 * The first program of the page, for any browser, however old: a classic script without a word of new syntax. It looks for all that
 * the page needs before a question is shown, and says in the page's language if something is missing, or if the page's modules
 * do not come or cannot run. The modules start only where this has marked the page as `checked`.
 *
 * Object.hasOwn, Array.prototype.at and navigator.locks came after every syntax that the modules use: Chrome 93, Safari 15.4, Firefox 96.
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
  var NEEDS_HTTPS = ["crypto.subtle.digest", "navigator.locks.request"]; // without HTTPS no browser has them, and the page says so itself

  function has(path) {
    var found = window, parts = path.split("."), i;
    for (i = 0; i < parts.length; i += 1) {
      if (found === undefined || found === null || !(parts[i] in Object(found))) return false;
      if (i + 1 < parts.length) found = found[parts[i]]; // what stands last may be a getter that works on elements only
    }
    return true;
  }

  function missing(paths) {
    var found = [], i;
    for (i = 0; i < paths.length; i += 1) if (!has(paths[i])) found.push(paths[i]);
    return found;
  }

  var main = document.querySelector("main");

  function holdsRecord(key) {
    return JSON.parse(localStorage.getItem(key) || "{}").epsilon !== undefined;
  }

  /** What this device holds, as `sent.mjs` has it: a record of the link's survey, perhaps of this one, or none. */
  function sentState() {
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
      return "unknown"; // the storage is closed, or holds what no page has written
    }
  }

  /** Shows the sentences about what was sent that are true in a state, and hides the others. */
  function saySent(state) {
    var elements = document.querySelectorAll("[data-sent]"), i;
    for (i = 0; i < elements.length; i += 1) {
      if ((" " + elements[i].getAttribute("data-sent") + " ").indexOf(" " + state + " ") < 0) elements[i].setAttribute("hidden", "");
      else elements[i].removeAttribute("hidden");
    }
  }

  /** Shows a section in place of the one that says that the survey is being checked. Afterwards, or on other pages, it does nothing. */
  function stop(id, detail) {
    var loading = document.getElementById("loading"), section = document.getElementById(id);
    if (!loading || !section || loading.hasAttribute("hidden")) return;
    loading.setAttribute("hidden", "");
    section.removeAttribute("hidden");
    section.querySelector("[data-slot=detail]").textContent = detail;
    section.querySelector("h1").focus();
  }

  /** The name of a file of this page, without where it comes from; undefined for those of others. */
  function own(address) {
    return (/\/browser\/((?:types\/)?[a-z_]+\.m?js)$/.exec(address || "") || [])[1];
  }

  window.addEventListener("error", function (event) {
    var file = own(event.filename || (event.target && event.target.src));
    if (file) stop("broken", file);
  }, true);

  // By now every script has run or failed. An error that came before this file did was heard by nobody, so the page looks for itself.
  window.addEventListener("load", function () {
    if (main.getAttribute("data-support") === "checked" && document.querySelector("script[src$='/respond.mjs']")) stop("broken", "respond.mjs");
  });

  saySent(sentState());
  var lacking = missing(window.isSecureContext === false ? NEEDS : NEEDS.concat(NEEDS_HTTPS));
  main.setAttribute("data-support", lacking.length ? "lacking" : "checked");
  if (lacking.length) stop("unsupported", lacking.join(", "));
}());
