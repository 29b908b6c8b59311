/**
 * The browsers inside of other apps. They can read along what is typed in them, and lose what a page keeps, so a survey is
 * better answered in a browser of one's own. They are known by what they announce, here on the device.
 */

const APPS = [
  [/\bFB(AN|AV|_IAB|IOS)\b/, "Facebook"],
  [/\bInstagram\b/, "Instagram"],
  [/\b(TikTok|musical_ly|BytedanceWebview|trill)/i, "TikTok"],
  [/\bLine\//, "LINE"],
  [/\bMicroMessenger\b/, "WeChat"],
  [/\bSnapchat\b/, "Snapchat"],
  [/\bTwitter/, "X"],
  [/\bLinkedInApp\b/, "LinkedIn"],
  [/\bPinterest\b/, "Pinterest"],
  [/\bKAKAOTALK\b/i, "KakaoTalk"],
  [/\bGSA\//, "Google"],
  [/\bTelegram\b/, "Telegram"],
  [/\bWhatsApp\//, "WhatsApp"],
];

/** The name of the app that this browser is a part of; "" where it is a part of some app, undefined where it is one of its own. */
export function appOf(userAgent) {
  const found = APPS.find(([announced]) => announced.test(userAgent));
  if (found) return found[1];
  const android = /; wv\)/.test(userAgent);
  const apple = /\((iPhone|iPad|iPod|Macintosh)\b.*AppleWebKit/.test(userAgent) && !/Safari\//.test(userAgent);
  return android || apple ? "" : undefined;
}
