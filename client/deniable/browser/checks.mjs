/** Checks before the first question: the browser has what the page needs, and the definition is the one that the link names. */

import { spareCodes } from "./claims.mjs";
import { RefusedError, readDefinition } from "./definition.mjs";
import { download } from "./delivery.mjs";
import { t } from "./language.mjs";
import { cryptoWords } from "./randomize.mjs";

/**
 * Downloads the definition of the survey `id` and checks it, against the link's digest `pin` if it has one. Throws RefusedError. `spare` has
 * the numbers of invitation codes and of expected people if the server says that there are more codes.
 */
export async function checkedDefinition(url, id, pin) {
  const { bytes, headers } = await download(url);
  const definition = await readDefinition(bytes, { pin }).catch(translateRefusal);
  if (definition.survey.id !== id) throw new RefusedError(t("the survey must be {id}, as the link says, got another one", { id }));
  return { ...definition, spare: spareCodes(headers.get("Deniable-Codes")) };
}

/** Translates the refusal of a definition. The broken rule becomes a detail, in English. */
function translateRefusal(error) {
  if (!(error instanceof RefusedError)) throw error;
  const reason = t("what this server says about the survey is not what it must be, or not what your link names");
  throw Object.assign(new RefusedError(reason), { detail: error.message });
}

/** Throws RefusedError if the browser lacks what the page needs. */
export function requireBrowser() {
  if (!isSecureContext) {
    throw new RefusedError(t("this page must be opened over HTTPS: only there can your browser check the survey that it was given"));
  }
  try {
    cryptoWords()();
  } catch {
    throw new RefusedError(t("this browser must have a cryptographic random generator for its coins; it has none"));
  }
}
