"""Sample sentences of many scripts for make_tokenizer_vectors.py, written for this project. Data only."""

SENTENCES = [
    # English, with contractions in every case
    "The quick brown fox can't jump over the lazy dog, but it'll try.",
    "I'M SURE WE'LL SEE WHAT THEY'VE DONE; IT'S LATE, ISN'T IT? HE'D KNOW.",
    "Don'T mix'Ve cases'Re like'M this'D or'LL that'lL, o'Re'Ll.",
    "Dr. Smith paid $3.50 (about 2,95 EUR) for 12 eggs on 07/04/1999 at 08:45:30.",
    "An antidisestablishmentarianist's pneumonoultramicroscopicsilicovolcanoconiosis",
    "Weights stay on the chip, so a token takes 18,140 cycles: neither more nor less.",
    "'s 't 're 've 'm 'll 'd 'S 'T 'RE 'VE 'M 'LL 'D ''s '' 'x",
    "“Curly quotes” don’t count as ‘apostrophes’… do they?",
    # Latin with accents
    "Le cœur déçu mais l'âme plutôt naïve, Louÿs rêva de crapaüter en canoë.",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich – süß, nicht?",
    "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío; ¿añoraba a su querido cachorro?",
    "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "Zażółć gęślą jaźń. Łódź, Śląsk.",
    "Pijamalı hasta yağız şoföre çabucak güvendi. İstanbul ılık.",
    "Tiếng Việt có nhiều dấu: trường học, nghiên cứu, phở, đường phố.",
    "Cafe\u0301 de\u0301ja\u0300 vu, composed by combining marks: a\u0308o\u0308u\u0308 n\u0303.",
    "Árvíztűrő tükörfúrógép; þorn og eð, ſ long s, ﬁ ligature, ǆ digraph.",
    # Cyrillic, Greek, Armenian, Georgian
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "Чуєш їх, доцю, га? Кумедна ж ти, прощайся без ґольфів!",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Πόσο κάνει; 3,50 €.",
    "Բարև Ձեզ, ինչպե՞ս եք։", "გამარჯობა, როგორ ხარ?",
    # Chinese, Japanese, Korean
    "敏捷的棕色狐狸跳过了懒狗。今天是2024年3月15日,星期五。",
    "人工智慧晶片的設計,需要精確的時脈控制!「對嗎?」",
    "いろはにほへと ちりぬるを。東京タワーは333メートルです。",
    "カタカナとひらがな、漢字を混ぜて書く:コンピュータ、ﾊﾝｶｸ。",
    "다람쥐 헌 쳇바퀴에 타고파. 안녕하세요, 세계! 2024년 5월.",
    "한글 자모: ㄱㄴㄷ ㅏㅑㅓ 그리고 각 (분해형).",
    # Arabic, Hebrew, Persian, Urdu
    "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر.",
    "العدد ١٢٣٤٥ والسعر ٣٫٥٠ دينار؟ نعم، صحيح.",
    "דג סקרן שט בים מאוכזב ולפתע מצא חברה. שָׁלוֹם עוֹלָם!",
    "می‌خواهم فارسی بنویسم؛ عدد ۱۲۳.", "یہ اردو کا جملہ ہے۔",
    # Indic and South-East Asian
    "ऋषियों को सताने वाले दुष्ट राक्षसों का नाश हुआ। संख्या १२३४।",
    "আমার সোনার বাংলা, আমি তোমায় ভালোবাসি।",
    "தமிழ் மொழி மிகவும் பழமையானது.", "తెలుగు భాష 567", "ಕನ್ನಡ ನುಡಿ", "മലയാളം എഴുത്ത്",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า ราคา ๕๐๐ บาท", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာစာ", "བོད་སྐད།",
    "ᎣᏏᏲ ᏣᎳᎩ", "አማርኛ ሰላም", "ᠮᠣᠩᠭᠣᠯ\u180e ᠪᠢᠴᠢᠭ",
    # Emoji: joiners, skin tones, flags, keycaps, variation selectors
    "Family 👨‍👩‍👧‍👦, astronaut 👩🏽‍🚀, wave 👋🏿, thumbs 👍🏻👍🏼👍🏽👍🏾👍🏿!",
    "🏳️‍🌈🏴‍☠️🇩🇪🇯🇵🇺🇸 1️⃣2️⃣#️⃣ ❤️‍🔥 ☺️ ☺ 😀😃😄 🤷🏼‍♀️ 🧑‍💻",
    "Ok 👌great🎉party😂😂😂 end🚀.",
    # Mathematics, symbols, numbers of all kinds
    "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β = ¬(¬α ∨ β), ℵ₀ ≤ 2^ℵ₀; ∑ᵢ₌₁ⁿ i² ≈ n³⁄₃",
    "½ ¾ ⅓ Ⅳ Ⅻ ① ② ⑳ ² ³ ¹ ₁ ₂ ㊿ 〇 一二三 ٠١٢ ०१२ 𝟘𝟙𝟚 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "0 1 12 123 1234 12345 123456 1234567 3.14159265358979 1e-10 0xDEADBEEF 1,000,000.00",
    "§ ¶ † ‡ • ‰ ′ ″ ‽ ⁂ ™ © ® ° ± × ÷ ¤ ¢ £ ¥ € ₿ → ⇒ ↔ ■ □ ▲ ● ★ ☎ ♠ ♥ ♫ ✓ ✗ ❝ ❞",
    "┌─┬─┐│ │ │├─┼─┤└─┴─┘ ▁▂▃▄▅▆▇█ ░▒▓ ▁▁ ▁a ▁",
    # Code and markup
    "int main(void) {\n\tfor (int i = 0; i < 10; ++i) {\n\t\tprintf(\"%d\\n\", i);\n\t}\n\treturn 0;\n}\n",
    "def f(x):\n    return [y**2 for y in range(x) if y % 2 == 0]  # squares\n\n\nclass A:\n    pass\n",
    "always_ff @(posedge clk_i or negedge rst_ni) begin\n  if (!rst_ni) q_o <= '0;\n  else         q_o <= d_i;\nend",
    "SELECT name, COUNT(*) FROM users WHERE age >= 18 AND city != 'Paris' GROUP BY name;",
    "<div class=\"box\" id='x'>&amp; <!-- comment --></div>\r\n<p>text</p>\r\n",
    "{\"key\": [1, 2.5, null, true], \"nested\": {\"a\": \"b\\u00e9\"}}",
    "#include <vector>\n#define MAX(a,b) ((a)>(b)?(a):(b))\nstd::vector<int> v{1,2,3};auto it=v.begin();",
    "https://example.org/path/to/page?query=1&other=two#part  user.name+tag@mail.example.com",
    "$ ls -la | grep '^d' && echo \"done\" > /dev/null 2>&1; cd ..\\..\\src",
    "| a | b |\n|---|:-:|\n| 1 | 2 |\n\n- item\n  * sub\n\n> quote\n\n```py\nprint('hi')\n```\n",
    "camelCase snake_case kebab-case SCREAMING_CASE PascalCaseHTTPServer v2.0.1-rc3 x86_64 f32x8",
    # Repetition
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "hahahahahahahaha!!!!!!!!!!!!!!!!??????",
    "----------------------------------------", "================", "....................", "################",
    "\u3042" * 17, "0" * 40, "ab" * 30, "\\" * 13, "/*" * 9, "((((((((()))))))))", "''''''''", "\"\"\"\"\"",
]

SPACES = [" ", "  ", "   ", "        ", "\t", "\t\t", "\n", "\n\n", "\n\n\n", "\r\n", "\r\n\r\n", "\r", " \n", "\n ",
          " \n \n ", "\t \t", "\u00a0", "\u00a0\u00a0", "\u3000", "\u3000 ", "\u2003", "\u2009", "\u200b", "\u202f",
          "\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\u1680", "\u180e", "\u205f", "\ufeff", "\u2060", " " * 33]

CONTROLS = [chr(c) for c in range(0, 32)] + ["\x7f", "\u0080", "\u0081", "\u008d", "\u009f", "\u00ad", "\u200c",
                                             "\u200d", "\u200e", "\u200f", "\u202e", "\ufffd", "\ufffe", "\uffff",
                                             "\ue000", "\U000f0000", "\U0010ffff", "\U000e0001"]
