/**
 * The names of languages in themselves, from the Unicode locale data (CLDR): browsers do not carry those of all languages. And which of
 * them are written from right to left.
 */

const NAMES = {
  aa: "Qafar", ab: "Аԥсшәа", af: "Afrikaans", agq: "Aghem", ak: "Akan", am: "አማርኛ", an: "Aragonés", ann: "Obolo", apc: "العامية", ar: "العربية",
  arn: "Mapudungun", as: "অসমীয়া", asa: "Kipare", ast: "Asturianu", az: "Azərbaycan", ba: "Башҡорт теле", bal: "بلۆچی", bas: "Ɓàsàa",
  be: "Беларуская", bem: "Ichibemba", bew: "Betawi", bez: "Hibena", bg: "Български", bgc: "हरियाणवी", bgn: "بلوچی (رخشانی)", bho: "भोजपुरी",
  blo: "Anii kagɩja", blt: "ꪼꪕꪒꪾ", bm: "Bamanakan", bn: "বাংলা", bo: "བོད་སྐད་", br: "Brezhoneg", brx: "बर’", bs: "Bosanski", bss: "Akoose",
  byn: "ብሊን", ca: "Català", cad: "Caddo", cch: "Atsam", ccp: "𑄌𑄋𑄴𑄟𑄳𑄦", ce: "Нохчийн", ceb: "Cebuano", cgg: "Rukiga", cho: "Chahta", chr: "ᏣᎳᎩ",
  cic: "Chikashshanompaʼ", ckb: "کوردیی ناوەندی", co: "Corsu", cs: "Čeština", csw: "ᓀᐦᐃᓇᐍᐏᐣ", cu: "Церковнослове́нскїй", cv: "Чӑваш", cy: "Cymraeg",
  da: "Dansk", dav: "Kitaita", de: "Deutsch", dje: "Zarmaciine", doi: "डोगरी", dsb: "Dolnoserbšćina", dua: "Duálá", dv: "ދިވެހިބަސް", dyo: "Joola",
  dz: "རྫོང་ཁ", ebu: "Kĩembu", ee: "Eʋegbe", el: "Ελληνικά", en: "English", eo: "Esperanto", es: "Español", et: "Eesti", eu: "Euskara", ewo: "Ewondo",
  fa: "فارسی", ff: "Pulaar", fi: "Suomi", fil: "Filipino", fo: "Føroyskt", fr: "Français", frr: "Nordfriisk", fur: "Furlan", fy: "Frysk",
  ga: "Gaeilge", gaa: "Gã", gd: "Gàidhlig", gez: "ግዕዝኛ", gl: "Galego", gn: "Avañe’ẽ", gsw: "Schwiizertüütsch", gu: "ગુજરાતી", guz: "Ekegusii",
  gv: "Gaelg", ha: "Hausa", haw: "ʻŌlelo Hawaiʻi", he: "עברית", hi: "हिन्दी", hnj: "𞄀𞄄𞄰𞄩𞄍𞄜𞄰", hr: "Hrvatski", hsb: "Hornjoserbšćina",
  ht: "Kreyòl Ayisyen", hu: "Magyar", hy: "Հայերեն", ia: "Interlingua", id: "Indonesia", ie: "Interlingue", ig: "Igbo", ii: "ꆈꌠꉙ", io: "Ido",
  is: "Íslenska", it: "Italiano", iu: "ᐃᓄᒃᑎᑐᑦ", ja: "日本語", jbo: "La .lojban.", jgo: "Ndaꞌa", jmc: "Kimachame", jv: "Jawa", ka: "Ქართული",
  kaa: "Қарақалпақша", kab: "Taqbaylit", kaj: "Kaje", kam: "Kikamba", kcg: "Katab", kde: "Chimakonde", kea: "Kabuverdianu", ken: "Kɛnyaŋ",
  kgp: "Kanhgág", khq: "Koyra ciini", ki: "Gikuyu", kk: "Қазақ тілі", kkj: "Kakɔ", kl: "Kalaallisut", kln: "Kalenjin", km: "ខ្មែរ", kn: "ಕನ್ನಡ",
  ko: "한국어", kok: "कोंकणी", kpe: "Kpɛlɛɛ", ks: "کٲشُر", ksb: "Kishambaa", ksf: "Rikpa", ksh: "Kölsch", ku: "Kurdî (kurmancî)", kw: "Kernewek",
  kxv: "Kuvi", ky: "Кыргызча", la: "Latina", lag: "Kɨlaangi", lb: "Lëtzebuergesch", lg: "Luganda", lij: "Ligure", lkt: "Lakȟólʼiyapi", lld: "Ladin",
  lmo: "Lombard", ln: "Lingála", lo: "ລາວ", lrc: "لۊری شومالی", lt: "Lietuvių", ltg: "Latgalīšu", lu: "Tshiluba", luo: "Dholuo", luy: "Luluhia",
  lv: "Latviešu", mai: "मैथिली", mas: "Maa", mdf: "Мокшень кяль", mer: "Kĩmĩrũ", mfe: "Kreol morisien", mg: "Malagasy", mgh: "Makua", mgo: "Metaʼ",
  mi: "Māori", mic: "Lʼnuiʼsuti", mk: "Македонски", ml: "മലയാളം", mn: "Монгол", mni: "মৈতৈলোন্", moh: "Kanienʼkéha", mr: "मराठी", ms: "Melayu",
  mt: "Malti", mua: "MUNDAŊ", mus: "Mvskoke", my: "မြန်မာ", myv: "Эрзянь кель", mzn: "مازرونی", naq: "Khoekhoegowab", nb: "Norsk bokmål",
  nd: "IsiNdebele", nds: "Neddersass’sch", ne: "नेपाली", nl: "Nederlands", nmg: "Kwasio", nn: "Norsk nynorsk", nnh: "Shwóŋò ngiembɔɔn", no: "Norsk",
  nqo: "ߒߞߏ", nr: "IsiNdebele", nso: "Sesotho sa Leboa", nus: "Thok Nath", nv: "Diné Bizaad", ny: "Nyanja", nyn: "Runyankore", oc: "Occitan",
  om: "Oromoo", or: "ଓଡ଼ିଆ", os: "Ирон", osa: "𐓏𐓘𐓻𐓘𐓻𐓟", pa: "ਪੰਜਾਬੀ", pap: "Papiamentu", pcm: "Naijíriá Píjin", pis: "Pijin", pl: "Polski",
  prg: "Prūsiskan", prs: "دری", ps: "پښتو", pt: "Português", qu: "Runasimi", quc: "Kʼicheʼ", raj: "राजस्थानी", rhg: "𐴌𐴗𐴥𐴝𐴙𐴚𐴒𐴙𐴝", rif: "Tarifit",
  rm: "Rumantsch", rn: "Ikirundi", ro: "Română", rof: "Kihorombo", ru: "Русский", rw: "Ikinyarwanda", rwk: "Kiruwa", sa: "संस्कृत भाषा",
  sah: "Саха тыла", saq: "Kisampur", sat: "ᱥᱟᱱᱛᱟᱲᱤ", sbp: "Ishisangu", sc: "Sardu", scn: "Sicilianu", sd: "سنڌي", sdh: "کوردی خوارگ",
  se: "Davvisámegiella", seh: "Sena", ses: "Koyraboro senni", sg: "Sängö", shi: "ⵜⴰⵛⵍⵃⵉⵜ", shn: "တႆး", si: "සිංහල", sid: "Sidaamu Afo",
  sk: "Slovenčina", skr: "سرائیکی", sl: "Slovenščina", sma: "Åarjelsaemien gïele", smj: "Julevsámegiella", smn: "Anarâškielâ", sms: "Sääʹmǩiõll",
  sn: "ChiShona", so: "Soomaali", sq: "Shqip", sr: "Српски", ss: "SiSwati", ssy: "Saho", st: "Sesotho", su: "Basa Sunda", sv: "Svenska",
  sw: "Kiswahili", syr: "ܣܘܪܝܝܐ", szl: "Ślōnski", ta: "தமிழ்", te: "తెలుగు", teo: "Kiteso", tet: "Tetun", tg: "Тоҷикӣ", th: "ไทย", ti: "ትግርኛ",
  tig: "ትግረ", tk: "Türkmen dili", tl: "Tagalog", tn: "Setswana", to: "Lea fakatonga", tok: "Toki pona", tpi: "Tok Pisin", tr: "Türkçe",
  trv: "Patas Taroko", trw: "توروالی", ts: "Xitsonga", tt: "Татар", twq: "Tasawaq senni", tzm: "Tamaziɣt n laṭlaṣ", ug: "ئۇيغۇرچە", uk: "Українська",
  ur: "اردو", uz: "O‘zbek", vai: "ꕙꔤ", ve: "Tshivenḓa", vec: "Veneto", vi: "Tiếng Việt", vmw: "Emakhuwa", vo: "Volapük", vun: "Kyivunjo", wa: "Walon",
  wae: "Walser", wal: "ወላይታቱ", wbp: "Warlpiri", wo: "Wolof", xh: "IsiXhosa", xnr: "कांगड़ी", xog: "Olusoga", yav: "Nuasue", yi: "ייִדיש",
  yo: "Èdè Yorùbá", yrl: "Nheẽgatu", yue: "粵語", za: "Vahcuengh", zgh: "ⵜⴰⵎⴰⵣⵉⵖⵜ", zh: "中文", zu: "IsiZulu",
};
const RIGHT_TO_LEFT = "apc ar bal bgn ckb dv fa he ks lrc mzn nqo prs ps rhg sd sdh skr syr trw ug ur yi".split(" ");
const SCRIPTS = { arab: true, hebr: true, adlm: true, nkoo: true, rohg: true, syrc: true, thaa: true, latn: false, cyrl: false, deva: false };

/** A language's name in itself: Kiswahili; with what else its tag says in parentheses: Kurdî (IQ). The tag where the name is not known. */
export function nameOf(tag) {
  const [family, ...rest] = tag.split("-");
  if (!Object.hasOwn(NAMES, family)) return tag;
  if (rest.length && Intl.DisplayNames.supportedLocalesOf(tag).length) return capitalised(new Intl.DisplayNames(tag, { type: "language" }).of(tag));
  return rest.length ? `${NAMES[family]} (${rest.join("-")})` : NAMES[family];
}

/** Whether a language is written from right to left: as its script is, where its tag names one. */
export function isRightToLeft(tag) {
  const [family, ...rest] = tag.toLowerCase().split("-");
  const script = rest.find((part) => Object.hasOwn(SCRIPTS, part));
  return script === undefined ? RIGHT_TO_LEFT.includes(family) : SCRIPTS[script];
}

function capitalised(name) {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
