"""Phrases that ask an agent to remember something, in several languages.

For each language, one table has the first and last words of such sentences, as in "Remember that …". A request at the start of a prompt is
the person's own. A request anywhere else in a message may be part of pasted text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

_END: Final = r"(?=$|[\s,:;.!…–—-]|[\u3000-\u303f\uff00-\uffef])"
_WHOLE: Final = r"(?![a-zß-öø-ÿ])"  # a phrase ends with its word: "annota" is not the beginning of "annotate"
_BASE_VERBS: Final = (
    "use|run|call|write|add|put|keep|make|start|begin|check|test|commit|push|merge|rebase|deploy|release|build|install|import|export"
    "|edit|touch|"
    "change|modify|delete|remove|rename|move|create|read|open|close|log|print|return|raise|throw|catch|wrap|format|lint|sign|squash|tag"
    "|bump|pin|"
    "update|upgrade|ask|tell|prefer|avoid|go|do|be|ensure|include|exclude|set|leave|let|give|pass|send|store|save|validate|escape|quote"
    "|mock|"
    "skip|ignore|follow|treat|assume|rely|trust|hard-?code|document|name|prefix|sort|round|compare|quote|show|answer|reply|speak|work"
    "|access|"
    "mutate|cache|retry|expose|share|load|declare|type|annotate|generate|regenerate|restart|review|clean|force|store|query|join|depend"
)


class Language(NamedTuple):
    """Phrases of one language with which a person asks to remember something."""

    name: str
    begins: str  # alternatives; the person's sentence begins with one of them, and the rest of it is kept
    rules: str = ""  # alternatives; a sentence that begins with one of them is a rule, and all of it is kept
    ends: str = ""  # alternatives; how a sentence to keep ends


LANGUAGES: Final = (
    Language(
        "en",
        r"/remember|#remember|remember(?! to\b| me\b|-)(?: that| this| the following| for (?:later|the future"
        r"|next time)| in (?:the )?future"
        r"| from now on| going forward)?(?=[\s,:–—-])"
        r"|(?:keep|bear|have) (?:this |it )?in (?:mind|memory)(?: that| this)?|don't (?:ever )?forget(?! to\b)(?: that| this)?"
        r"|do not forget(?! to\b)(?: that| this)?|never forget(?! to\b)(?: that| this)?|memori[sz]e(?: that| this)?|commit (?:this )?to "
        r"memory(?: that)?"
        r"|(?:take|make) (?:a )?(?:mental )?note(?: that| of this| for (?:later|the future|next time))?|(?:mental )?note to self"
        r"|(?:save|store|keep|put|add) (?:this|that|the following|it) (?:in|to|into|for) (?:your |the |our )?(?:project )?(?:memory(?! \w)"
        r"|notes|later|the future|future sessions)"
        r"|(?:save|add) to (?:your |the )?memory(?! \w)|note(?: down)?(?: that\b| this\b| for (?:later|the future"
        r"|next time|future reference)"
        r"|(?=:))"
        r"|for (?:future (?:reference|sessions)|later reference)|(?:for (?:next time|the record)|as a (?:general )?rule(?: of thumb)?"
        r"|as a standing rule|rule of the (?:house|project))(?=\s*[,:;–—-])"
        r"|(?:i want|i'd like|i need) you to (?:remember|keep in mind|note)(?: that| this)?|you (?:should|must|have to|need to) "
        r"(?:always )?(?:remember|know|keep in mind)(?: that| this)?"
        r"|(?:lessons? learn(?:ed|t)|house rule|project (?:rule|convention)|convention|(?:a )?standing (?:instruction|rule)|new rule)"
        r"(?=\s*[:–—-])",
        r"from now on|from here on(?: out)?|going forward|in (?:the )?future|from today(?: on)?|as of (?:now|today)|henceforth|by "
        r"default here"
        rf"|(?:we |you (?:should |must )?|please )?(?:always|never) (?:ever )?(?:{_BASE_VERBS})\b"
        rf"|(?:in this (?:repo|repository|project)|here|in our (?:repo|codebase|project)),? (?:we |you )?(?:should |must )?(?:always"
        rf"|never|only|do not|don't) (?:{_BASE_VERBS})\b",
        r"from now on|going forward|always|in (?:the )?future",
    ),
    Language(
        "de",
        r"merke?n? dir(?: bitte| mal| gut| auch| für später| für die zukunft)*,?(?: dass| folgendes)?|merke?(?: bitte)?(?=[:,])(?:, "
        r"dass)?|bitte (?:merken|notieren|beachten)"
        r"|denke? (?:bitte )?(?:immer )?(?:daran|dran),? dass|behalte? (?:bitte )?(?:im (?:kopf|hinterkopf|gedächtnis)|in "
        r"erinnerung),?(?: dass)?"
        r"|vergiss (?:bitte )?(?:nicht|nie),? dass|notiere?(?: dir)?(?: bitte)?(?: für später| für die zukunft)?,?(?: dass)?|(?:nur "
        r")?(?:für später|zur erinnerung|fürs protokoll|für die zukunft)"
        r"|halte? (?:bitte )?fest,? dass|schreib(?:e)? dir (?:bitte )?auf,?(?: dass)?|du sollst dir merken,? dass|speichere?(?: "
        r"bitte)?(?: dir)?(?: für später)?,?(?: dass)?(?=[\s:])",
        r"ab (?:jetzt|sofort|heute|nun)|von (?:jetzt|nun) an|in zukunft|künftig|zukünftig|fortan"
        r"|(?:bitte )?(?:nimm|nutze?|benutze?|verwende|führe?|schreibe?|rufe?|starte?|teste|prüfe|baue?|committe|pushe?|lege?|mach"
        r"|setze?) (?:\S+ ){0,3}(?:immer|stets|nie|niemals|nur)\b"
        r"|(?:immer|stets|nie|niemals) .{3,80}(?:en|ern|eln)\b|wir (?:\S+ ){1,3}(?:immer|stets|nie|niemals)\b",
    ),
    Language(
        "fr",
        r"souviens[- ]toi(?: bien)?(?: que| qu'| de ceci)?|souvenez-vous (?:que|qu')|rappelle-toi(?: bien)?(?: que| qu')?|retiens(?: "
        r"bien)?(?: que| qu'| ceci)?|mémorise(?: que| qu'| ceci)?"
        r"|note(?: bien)?(?: que| qu'| pour (?:plus tard|la suite|l'avenir))|note(?=\s?:)|n'oublie (?:pas|jamais)(?: que| qu')"
        r"|gardes?(?: bien)? (?:en tête|à l'esprit|en mémoire)(?: que| qu')?"
        r"|pour (?:mémoire|la suite|info future)|à retenir|prends note(?: que| qu')?",
        r"à partir de maintenant|dorénavant|désormais|à l'avenir|(?:utilise|lance|appelle|écris|mets|fais|exécute|vérifie|ajoute) "
        r"toujours\b|toujours \w+er\b|ne \S+ jamais\b|n'\S+ jamais\b|jamais de\b",
    ),
    Language(
        "es",
        r"recuerda(?:d)?(?: bien)?(?: que| esto)?(?=[\s:,])|acuérdate(?: bien)?(?: de)? que|ten(?:ga)? (?:en cuenta|presente)(?: que)?"
        r"|anota(?: esto)?(?: que| para (?:más tarde|luego|el futuro))?(?=[\s:,])|toma nota(?: de)?(?: que)?"
        r"|no (?:te )?olvides(?: de)? que|memoriza(?: que)?|guarda (?:esto )?en (?:la |tu )?memoria(?: que)?|para (?:el futuro|más "
        r"adelante|la próxima vez)|nota(?= para)(?: para (?:el futuro|más tarde))?",
        r"a partir de ahora|de ahora en adelante|en adelante|en el futuro|desde ahora|(?:usa|ejecuta|llama|escribe|pon|haz|añade"
        r"|comprueba) siempre\b|siempre (?:usa|ejecuta|llama|escribe|pon|haz|hay que|usamos)\b|nunca (?:hagas|uses|ejecutes|toques"
        r"|pongas|subas|cambies|escribas|borres)\b",
    ),
    Language(
        "it",
        r"ricorda(?:ti)?(?: bene)?(?: che| questo)?(?=[\s:,])|tieni (?:a mente|presente|conto)(?: che)?|prendi nota(?: che)?"
        r"|annota(?:ti)?(?: che)?|non dimenticare(?: mai)? che|memorizza(?: che)?",
        r"d'ora in (?:poi|avanti)|da ora in (?:poi|avanti)|in futuro|(?:usa|esegui|chiama|scrivi|metti|fai) sempre\b|non \S+ mai\b|mai "
        r"(?:usare|fare|toccare)\b",
    ),
    Language(
        "pt",
        r"lembre(?:-se)?(?: bem)?(?: de)?(?: que| disto| disso)?(?=[\s:,])|lembra(?:-te)?(?: de)?(?: que)?(?=[\s:,])|tenha em (?:mente"
        r"|conta)(?: que)?|anote?(?: para mais tarde)?(?: que)?(?=[\s:,])|não (?:se )?esqueça(?: de)? que|memorize(?: que)?|guarde na "
        r"memória(?: que)?",
        r"a partir de agora|de agora em diante|daqui em diante|no futuro|(?:use|execute|chame|escreva|faça) sempre\b|sempre (?:use"
        r"|execute|chame|escreva|faça)\b|nunca (?:use|faça|execute|toque|altere)\b",
    ),
    Language(
        "nl",
        r"onthoud(?: goed)?,?(?: dat| dit)?(?=[\s:,])|houd (?:er )?(?:rekening mee|in gedachten|in je achterhoofd),?(?: dat)?|noteer(?: "
        r"voor later)?,?(?: dat)?(?=[\s:,])|vergeet (?:niet|nooit),? dat|voor later",
        r"vanaf (?:nu|vandaag)|voortaan|in de toekomst|(?:gebruik|draai|schrijf|roep|zet) (?:\S+ ){0,2}(?:altijd|nooit)\b",
    ),
    Language(
        "pl",
        r"zapamiętaj(?: sobie)?,?(?: że| to)?|pamiętaj(?: proszę)?,? że|pamiętaj(?=\s?:)|zanotuj(?: sobie)?,?(?: że)?|nie zapominaj,? że"
        r"|miej na uwadze,? że|weź pod uwagę,? że|na przyszłość",
        r"od teraz|od dziś|w przyszłości|zawsze (?:używaj|uruchamiaj|pisz|wywołuj|sprawdzaj|dodawaj)\b|nigdy nie\b",
    ),
    Language(
        "sv-da-no-fi",
        r"kom ihåg,?(?: att)?|husk(?: på)?,?(?: at)?(?=[\s:,])|notera,?(?: att)?(?=[\s:,])|glöm inte,? att|glem ikke,? at|muista,?(?: "
        r"että)?(?=[\s:,])|pidä mielessä,?(?: että)?",
        r"från och med nu|i fortsättningen|fra nå av|fra nu af|fremover|tästä lähtien|jatkossa|använd alltid\b|bruk alltid\b|brug "
        r"altid\b|käytä aina\b",
    ),
    Language(
        "cs-sk-hu-ro-tr",
        r"(?:zapamatuj|pamatuj) si,?(?: že)?|poznamenej si,?(?: že)?|zapamätaj si,?(?: že)?|jegyezd meg,?(?: hogy)?|ne feledd,?(?: "
        r"hogy)?|ține minte,?(?: că)?|reține,?(?: că)?|unutma(?=[\s:,])|şunu unutma|şunu hatırla|aklında tut|not al(?=[\s:,])"
        r"|hatırla(?=[\s:,])",
        r"od teď|odteď|mostantól|de acum (?:înainte|încolo)|bundan sonra|bundan böyle|vždy používej\b|mindig használd\b|folosește "
        r"mereu\b|her zaman\b|asla\b",
        r"unutma|aklında tut",
    ),
    Language(
        "ru-uk",
        r"запомни(?:те)?(?: пожалуйста)?,?(?: что| это| следующее)?|помни(?:те)?,? что|помни(?=\s?:)|име(?:й|йте) в виду,?(?: что)?"
        r"|учти(?:те)?,?(?: что)?|запиши(?:те)?(?: себе| на будущее| на потом)*,?(?: что)?(?=[\s:,])|не (?:забудь|забывай)(?:те)?,? что"
        r"|возьми на заметку,?(?: что)?|заметка|на будущее|на заметку"
        r"|запам'ятай(?:те)?,?(?: що)?|пам'ятай,? що|май на увазі,?(?: що)?|не забудь,? що",
        r"отныне|впредь|с этого момента|с сегодняшнего дня|в дальнейшем|всегда (?:используй|запускай|пиши|вызывай|проверяй|делай"
        r"|добавляй)\S*|никогда не\b|відтепер|надалі|завжди (?:використовуй|запускай)\S*",
    ),
    Language("el", r"θυμήσου(?: ότι)?|να θυμάσαι(?: ότι)?|έχε υπόψη(?: ότι)?|σημείωσε(?: ότι)?", r"από εδώ και (?:πέρα|στο εξής)|από τώρα"),
    Language(
        "zh",
        r"(?:请|麻烦)?(?:帮我)?(?:你)?(?:一定)?(?:要)?(?:记住|记下来?|牢记|谨记|记得|记着|記住|記下|記得|備註|备注|备忘)(?:一下|这一点|这点|以下)?|(?:请)?(?:别|不要)忘(?:了|记)"
        r"|(?:请)?注意(?=[：:])",
        r"从现在(?:开始|起)|從現在(?:開始|起)|从今(?:以后|往后|天起)|以后|今后|往后|以後|今後|(?:请|我们|本项目|这里)?(?:总是|始终|一律|永远不要|务必|絕對不要|绝对不要|永遠不要)",
    ),
    Language(
        "ja",
        r"(?:次のことを|以下を|これを)?(?:覚えて(?:おいて|いて)?(?:ください|ね|くれ)?|記憶して(?:おいて)?(?:ください)?|メモして(?:おいて)?(?:ください)?|メモ)(?=[：:、,。\s])"
        r"|(?:忘れないで(?:ください)?|念頭に置いて(?:ください)?)(?=[：:、,。\s])",
        r"今後は?|これからは?|今から|以後は?|常に|必ず|決して|絶対に",
        r"(?:と|を|ことを|のを)?(?:覚えておいて(?:ください|ね)?|記憶しておいて(?:ください)?|メモしておいて(?:ください)?|忘れないで(?:ください)?)",
    ),
    Language(
        "ko",
        r"(?:이것을|다음을|꼭)?\s?(?:기억해\s?(?:줘|둬|주세요|두세요)?|메모해\s?(?:줘|둬|주세요)?|메모|잊지\s?(?:마|말아줘|마세요))(?=[：:,.\s])",
        r"앞으로는?|지금부터는?|이제부터는?|항상|절대(?:로)?",
        r"(?:라고|다고|것을|는 걸|을"
        r"|를)?\s?(?:꼭 )?(?:기억해\s?(?:줘|둬|주세요|두세요)?|메모해\s?(?:줘|둬|주세요)|잊지\s?(?:마|말아줘|마세요))",
    ),
    Language(
        "ar-he-fa",
        r"تذكر(?: أن)?|لا تنس(?: أن)?|ضع في اعتبارك(?: أن)?|זכור(?: ש)?|תזכור(?: ש)?|به خاطر بسپار(?: که)?|یادت باشد(?: که)?",
        r"من الآن فصاعدا(?:ً)?|מעכשיו|از این به بعد",
    ),
    Language(
        "hi-vi-id-th",
        r"याद (?:रखो|रखें|रखना)(?: कि)?|ध्यान (?:रखें|रखो)(?: कि)?|hãy nhớ(?: rằng)?|ghi nhớ(?: rằng)?|xin nhớ(?: rằng)?"
        r"|ingat(?:lah)?(?: bahwa)?(?=[\s:,])|catat(?: bahwa)?(?=[\s:,])|jangan lupa bahwa|จำไว้(?:ว่า)?|โปรดจำ(?:ไว้)?(?:ว่า)?",
        r"अब से|từ (?:giờ|bây giờ|nay)(?: trở đi)?|mulai sekarang|selalu (?:gunakan|pakai)\b|ตั้งแต่(?:นี้|ตอนนี้)(?:เป็นต้น)?ไป",
        r"याद (?:रखो|रखें|रखना)",
    ),
)

ANYWHERE: Final = (  # stems of "remember", "do not forget" and "from now on", singular and plural
    # Romance and Germanic
    r"ține(?:ți|m)? minte|re[țt]ine[țt]i|aminti[țt]i-vă|nu uita[țt]?i?\b|de acum (?:înainte|încolo)|pe viitor",
    r"recuerd[ae]\w*|recorda(?:d|r|u|t)?\b|acuérd\w+|acordaos|tened (?:en cuenta|presente)|no (?:te |se |os )?olvid\w+",
    r"no (?:t'|us )?oblid\w+|ting(?:ue(?:s|u)|ui) (?:en compte|present)|a partir d'ara|d'ara endavant",
    r"souvenez-vous|rappelez-vous|retenez|notez que|gardez (?:en tête|à l'esprit)|n'oubliez|veuillez noter",
    r"ricorda(?:te|tevi|ti|rsi)?\b|non dimentica\w*|ten(?:ete|ga|gano) (?:a mente|presente|conto)",
    r"lembr(?:e|em|a|ai|ar)(?:-\w+)?\b|não (?:se |te )?esque[cç]\w+|tenham em (?:mente|conta)",
    r"merk(?:en sie sich|t euch)|denk(?:en sie|t) (?:bitte )?(?:immer )?daran|vergess?(?:en sie|t) (?:bitte )?(?:nicht|nie)|beachten sie",
    r"onthoud\w*|vergeet (?:niet|nooit)|houdt? (?:er )?rekening|onthou\b|moenie vergeet|van nou af",
    r"kom(?:mer)? ihåg|glöm(?:mer)? (?:inte|aldrig)|lägg på minnet|hädanefter|framöver|från och med (?:nu|idag|i dag)",
    r"husk(?:et?|er)?(?: altid| alltid| på)? at\b|glem(?:mer)? (?:ikke|aldri(?:g)?)|heretter|herefter|fra n[åu] a[vf]|fremover"
    r"|mun(?:du|ið) "
    r"að|héðan í frá",
    # Slavic and Baltic
    r"запомн\w+|помни(?:те)?\b|не забу\w+|не забравя\w*|отсега нататък|занапред|отныне|впредь|памятай\w*|пам'ятай\w*|запам'ят\w+"
    r"|відтепер",
    r"запамти\w*|упамти\w*|не заборав\w+|од сада|zapamti\w*|upamti\w*|ne zaborav\w+|imaj(?:te)? na umu|od sada|zapomni(?:te)?\b|ne "
    r"pozabi\w*|od zdaj",
    r"(?:za)?pamatuj\w*|zapamät\w+|pamätaj\w*|nezapome\w+|nezabud\w+|měj(?:te)? na paměti|od teď|odteď|odteraz|od nynějška",
    r"zapamięt\w+|pamięta(?:j|jcie|jmy)\b|nie zapomin\w+|od tej pory|odtąd",
    r"(?:prisimin|atsimin)\w+|nepamirš\w+|nuo (?:šiol|dabar)|atcer(?:ies|ieties)|neaizmirst\w+|turpmāk",
    # Finnic, Hungarian, Turkic, Basque, Celtic
    r"muista(?:kaa)?\b|älä(?:ä)? unohda\w*|älkää unohtako|pi(?:dä|täkää) mielessä|tästä (?:lähtien|eteenpäin)|vastedes",
    r"pea(?:ge)? meeles|ära unusta|ärge unustage|edaspidi|nüüdsest",
    r"emlékez\w+|ne fele(?:jts|dj)\w*|jegyezz\w*|mostantól|ezentúl",
    r"hatırla(?:yın|yınız)?\b|unutma(?:yın|yınız)\b|aklınızda tut\w*|bundan (?:sonra|böyle)|yadda saxla\w*|есте сақта\w*|eslab qol\w*",
    r"gogora(?:tu|n izan)\b|ez ahaztu|hemendik aurrera|cuimhnigh\w*|cofiwch",
    # Greek, Semitic, Iranian, Caucasian
    r"(?:να )?θυμ(?:άσ(?:αι|τε|θε)|ηθεί(?:ς|τε)|ήσου)|μην? ξεχ(?:νά|ά)\w+|σημειώστε|στο εξής|από (?:εδώ και|τώρα και)",
    r"(?:ו)?(?:זכרו|זכור|זכרי|תזכרו|תזכור)|אל תשכח\w*|מעתה|מעכשיו|מהיום והלאה|(?:و)?تذك[ّ]?ر(?:وا|ي)?|لا تنس\w*|من الآن"
    r"|منذ الآن|اعتبارا من",
    r"به (?:یاد|خاطر) (?:داشته|بسپار|داشت)\w*|یادتان باشد|فراموش نکن\w*|از (?:این|حالا) (?:به|پس)|یاد رکھ\w*|اب سے",
    r"დაიმახსოვრ\w*|არ დაგავიწყდ\w*|հիշե՛?ք|հիշիր|մի մոռաց\w*",
    # India, South-East Asia, Africa
    r"याद रख\w*|मत भूल\w*|न भूल\w*|अब से|ध्यान रख\w*|लक्षात ठेव\w*|মনে রাখ\w*|ভুলবেন না|এখন থেকে|நினைவில்|గుర్తుంచుకో\w*|ನೆನಪಿಡ\w*"
    r"|ഓർക്കുക",
    r"จำไว้|จดจำ|อย่าลืม|โปรดจำ|นับจากนี้|ตั้งแต่(?:นี้|บัดนี้)|ຈື່ໄວ້|ចងចាំ|မှတ်ထား|(?:hãy|xin|cần|phải|luôn|nên|ghi) nhớ|đừng quên"
    r"|kể từ (?:nay|giờ)|từ nay",
    r"ingat(?:lah|kan)?\b|jangan lupa|mulai (?:sekarang|hari ini)|tandaan|huwag kalimutan|mula ngayon",
    r"kumbuk\w+|usisahau|msisahau|kuanzia sasa|ranti pe|khumbula\w*|አስታውስ\w*",
    # East Asia
    r"기억하(?:세요|십시오|라|자)|잊지 (?:마|말)\w*|お忘れなく|覚えておくこと|忘れずに|切记|切記|谨记|請記住|请勿忘",
)
"""Request phrases of further languages, for texts whose writer is unknown.

They only mark a message as doubtful, so a false match costs little.
"""

_HEAD: Final = (  # words that may precede a request at the head of a prompt
    r"(?:(?:hi|hey|hello|ok|okay|so|also|and|btw|by the way|first(?: of all)?|one (?:more )?thing|another thing|listen|look|please|pls"
    r"|plz|great|thanks|thank you|perfect|cool|nice|good|yes|right|"
    r"claude|codex|gemini|cursor|copilot|assistant|"
    r"hallo|also|bitte|übrigens|außerdem|danke|gut|super|ja|s'il te plaît|stp|merci|au fait|ok|por favor|gracias|oye|hola|per favore"
    r"|grazie|por favor|obrigado|alsjeblieft|proszę|cześć"
    r"|пожалуйста|привет|спасибо|кстати|请|麻烦|你好|好的|お願い|すみません|부탁해|lütfen|tack|snälla)"
    r"(?:[\s,.!:;–—-]+|(?=[\u3040-\u9fff]))){0,4}"
)
_CAN_YOU: Final = r"(?:(?:can|could|will|would) you (?:please |kindly )?|kannst du (?:dir )?(?:bitte )?|peux-tu |puedes )?"
# These alternatives of all languages take long to compile: each is compiled when a message is first compared with it.


@cache
def polite() -> re.Pattern[str]:
    """Return the pattern of a sentence that has only polite words: "Thanks!"."""
    return re.compile(rf"{_HEAD}[\s.!,]*", re.IGNORECASE)


@cache
def begins() -> re.Pattern[str]:
    """Return the pattern of a request to remember at the start of a sentence.

    An example is "Remember that the port is 8080", recognised by "Remember that". The group `what` of a match is the text after these
    words.
    """
    return re.compile(
        rf"{_HEAD}{_CAN_YOU}(?P<begins>{'|'.join(one.begins for one in LANGUAGES)}){_WHOLE}(?P<gap>[\s,:;–—\-，：、。]*)(?P<what>.*)$",
        re.IGNORECASE | re.DOTALL,
    )


@cache
def rules() -> re.Pattern[str]:
    """Return the pattern of a sentence that begins with the words of a rule.

    Such words are "from now on" or "always", for example. The group `what` of a match is the whole rule, with these words.
    """
    return re.compile(rf"{_HEAD}(?P<what>(?:{'|'.join(one.rules for one in LANGUAGES if one.rules)}).*)$", re.IGNORECASE | re.DOTALL)


@cache
def ends() -> re.Pattern[str]:
    """Return the pattern of a request to remember at the end of a sentence.

    An example is "Run the linter first, from now on", recognised by "from now on". The group `what` of a match is the text before these
    words.
    """
    return re.compile(
        rf"{_HEAD}(?P<what>.+?)[\s,，、]*(?:{'|'.join(one.ends for one in LANGUAGES if one.ends)})[\s.!。！]*$", re.IGNORECASE | re.DOTALL
    )


@cache
def asks() -> re.Pattern[str]:
    """Return the pattern that finds a request to remember in any sentence.

    The request may be inside pasted text, so somebody else may have written it.
    """
    return re.compile(
        rf"(?<![\w/])(?:(?:{'|'.join(one.begins for one in LANGUAGES)}){_WHOLE}|{'|'.join(ANYWHERE)})"
        rf"|(?:{'|'.join(one.ends for one in LANGUAGES if one.name in ('ja', 'ko'))})"
        r"|\b(?:from now on|going forward|henceforth|ab (?:jetzt|sofort)|von nun an|künftig|à partir de maintenant|désormais|dorénavant|a "
        r"partir de ahora|de ahora en adelante|d'ora in poi"
        r"|a partir de agora|vanaf nu|voortaan|od teraz|отныне|впредь)\b|从现在(?:开始|起)|今後は?"
        r"|앞으로는?",
        re.IGNORECASE,
    )
