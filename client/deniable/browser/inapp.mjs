/** In-app browser detection, on the device, by user agent. An app can read all input of its browser, which also loses the pages' storage. */

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

/** Returns the name of the app around this browser: "" for an unknown app, undefined for an independent browser. */
export function appOf(userAgent) {
  const app = APPS.find(([pattern]) => pattern.test(userAgent));
  if (app) return app[1];
  const isAndroid = /; wv\)/.test(userAgent);
  const isApple = /\((iPhone|iPad|iPod|Macintosh)\b.*AppleWebKit/.test(userAgent) && !/Safari\//.test(userAgent);
  return isAndroid || isApple ? "" : undefined;
}
