"""Patterns of requests, statements and rules in a person's messages."""

from __future__ import annotations

import re
from typing import Final

from graphmem.runtime.patterns import lazy_pattern

_I: Final = re.IGNORECASE | re.MULTILINE
_NAMES: Final = r"(?:claude|codex|gemini|cursor|copilot|assistant|agent|bot|gpt|team)"
_SAYING: Final = (
    # "requests", "comments", "added": in code they are mostly nouns or deeds, so they count only before a colon or "that"
    r"(?:(?:comments|reports?|reported|writes|posted|noted|requested|suggested|repl(?:y|ies)|requests|claims|added|approved|confirmed)"
    r"(?=\s*[:：]| that\b)|"
    r"says?|said|wrote|told (?:me|us|you)|commented|replied|suggests|mentioned|insists|insisted|claimed|demands|asks (?:us|you|me|that)"
    r"|asked (?:us|you|me|that|for)|"
    r"schreibt|schrieb|sagt|sagte|meint|meinte|hat (?:geschrieben|gesagt|gemeint)|kommentiert|dit|a dit|écrit|a écrit|demande|dice|dijo"
    r"|escribe|escribió|comenta|pide|scrive|ha scritto|dice|ha detto|diz|disse|escreveu|schrijft|schreef|zegt|pisze|napisał|mówi|пишет"
    r"|написал\w*|сказал\w*|говорит|просит)"
)
_THINGS: Final = (
    r"(?:review(?: comment)?s?|comments?|issues?|tickets?|bug(?: report)?s?|e-?mails?|mails?|messages?|letters?|customers?|clients?"
    r"|reviewers?|users?|maintainers?|systems?|developers?|humans?|tools?|instructions?|feedback|slack|discord|teams|jira|linear|pull "
    r"request|pr|description|changelog|readme|release notes?|logs?|output|stack ?traces?|tracebacks?|errors?|docs?|documentation|pages?"
    r"|article|post|thread|chat|transcript|snippet|file|comment thread|answer|reply|forum|stack ?overflow|commit(?: message)?|notes? "
    r"from|quote|text|"
    r"kunde|kundin|kommentar|nachricht|antwort|fehler(?:meldung)?|rückmeldung|ticket|beschreibung|protokoll|client|message|courriel"
    r"|commentaire|erreur|retour|cliente|mensaje|correo|comentario|incidencia|messaggio|commento|mensagem|comentário|bericht|klant"
    r"|wiadomość|komentarz|клиент\w*|письм\w*|сообщени\w*|комментари\w*|отзыв\w*|ошибк\w*|тикет\w*|邮件|评论|消息|客户|用户|系统|工单|反馈|日志|报错|メール"
    r"|コメント|レビュー|イシュー|顧客|ログ|메일|댓글|이슈|고객)"
)

# Other text follows: on a line of its own, or in a sentence directly after the thing or its origin. In "fix the bug in the cart: it is
# empty" and "implement message expiry. Old ones …" the thing is a part of the person's own order.
_MORE: Final = (
    r"(?=(?:[^\n:：.!?。！？]|[.!?](?=\S))*[:：.!?。！？]?[ \t]*\n\s*\S"
    r"|(?:\s+#?[\w-]*\d[\w-]*)?(?:\s+(?:from|by|of|below|above|that|which|who|we|i|you|he|she|they|it|says?|reads?"
    r"|von|vom|der|die|das|de|du|des|del"
    r"|da|di|van|od|от|из)\b(?:[^\n:：.!?。！？]|[.!?](?=\S))*)?\s*(?:[:：。！？]|[.!?]\s+\S))"
)
# With a capital, whatever the flags of the pattern: "Thanks, Eve", not "thanks, now add a test".
_NAME: Final = r"(?-i:[A-ZÀ-ÞА-Я\u4e00-\u9fff\uac00-\ud7a3](?!\s)[\w.'’-]*(?: [A-ZÀ-ÞА-Я][\w.'’-]*){0,3})"
_ORDERS: Final = (
    r"(?:answer|reply to|respond to|address|handle|triage|summari[sz]e|translate|look at|process|fix|implement|resolve|work on|read"
    r"|beantworte\w*|bearbeite|übersetze|fasse|réponds à|traite|résume|responde a|traduce|resume|rispondi a|ответь на|переведи|обработай)"
)
_DEEDS: Final = r"(?:add|change|create|delete|make|move|refactor|remove|rename|replace|set|split|update|write)"
_OWN: Final = r"(?! (?:[\w-]+ ){0,2}(?:needs?|should|must|can|cannot|may) \w+ \w)"  # a sentence about a thing, and not its text

# Words that make a sentence a rule for later, and addresses: without any of them a short message teaches nothing.
BINDING: Final = lazy_pattern(
    r"\b(?:always|never|must|mustn't|should|shouldn't|shall|have to|has to|needs? to|required?|only|don't|do not"
    r"|wants?|insists?|demands?|expects?"
    r"|prefers?|instead of|rather than|immer|stets|nie|niemals|nur|muss|müssen|soll|sollen|sollte|darf|dürfen"
    r"|toujours|jamais|doit|doivent|faut"
    r"|siempre|nunca|debe|deben|hay que|solo|sempre|mai|deve|devono|nunca|devem|altijd|nooit|moet|moeten|zawsze|nigdy)\b"
    r"|https?://|\bwww\.|[\w-]+@[\w-]+|\b[\w-]+\.(?:example|com|net|org|io|dev|sh|ru|cn|ai|app|xyz|cloud|local)\b",
    re.IGNORECASE,
)

# What people send: with one of these words a message is not taken for plain.
SENT: Final = lazy_pattern(
    r"\b(?:e-?mails?|mails?|letters?|newsletter|customers?|reviewers?|maintainers?|comments? (?:by|from|of)|slack"
    r"|discord|teams|jira|forum|reddit"
    r"|stack ?overflow|kunde|kundin|client a|cliente|klant)\b",
    re.IGNORECASE,
)

# Marks with an edge: the text before them and the text in them have different authors.
EDGED: Final = (
    ("a quotation", lazy_pattern(r"^\s{0,8}(?:>|&gt;|》|\|\s(?!\|))", re.MULTILINE)),
    ("a fence", lazy_pattern(r"```|~~~")),
    ("markup", lazy_pattern(r"<!--|</?[a-z][\w-]*(?:\s[^<>]*)?/?>|&(?:lt|gt|amp|quot|#\d+);|\[/?(?:quote|INST|code)\b", re.IGNORECASE)),
    ("a diff", lazy_pattern(r"^(?:diff --git|@@ -\d|\+\+\+ |--- [ab]/|[+-]\s{0,4}(?://|#|\*))", re.MULTILINE)),
    (
        "data",
        lazy_pattern(r"^\s*[\[{]\s*$|[{,]\s*\"[\w .-]+\"\s*:|^\s*\"[\w .-]+\"\s*:|^\s*-?\s*[\w-]+:\s*[|>]-?\s*$|^---\s*$", re.MULTILINE),
    ),
    (
        "a trace",
        lazy_pattern(
            r"Traceback \(most recent call last\)|^\s*File \"[^\"]+\", line \d|^\s+at \S+ ?\(|^panic: |^\s*Caused by:|^E {3}", re.MULTILINE
        ),
    ),
    ("a comment of code", lazy_pattern(r"^\s*(?://|/\*|\*/|<!--|--\s|;;|%%|\"\"\"|'''|#\s|#{2,}|REM )|^[ \t]+\* ", re.MULTILINE)),
    ("a table", lazy_pattern(r"^\s*\|.*\|\s*$|^\s*[-=+|]{4,}\s*$", re.MULTILINE)),
    (
        "quoted text",
        lazy_pattern(r"[\"“„«「『][^\"”“»」』]{60,}|(?<!\w)'[^'\n]{60,}'(?!\w)|[:：]\s*[\"“„«「『'‘]|^[\"“„«「『]", re.MULTILINE),
    ),
    (
        "a log",
        lazy_pattern(
            r"^\W{0,3}\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\W{0,3}(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|CRITICAL|NOTICE)\b", re.MULTILINE
        ),
    ),
)
# Edges without words, which hold in any language.
SHAPED: Final = (
    ("an announced passage", lazy_pattern(r"[:：][ \t]*\n[ \t]*\n(?!\s*(?:[-*•]\s|\d+[.)]\s))\s*\S")),
    ("a ticket", lazy_pattern(r"\n[ \t]*[A-Z][A-Z0-9]{1,9}-\d+(?:[ \t]{2,}\S|[ \t]*[:：]?[ \t]*\n)")),
    (
        "a form",
        lazy_pattern(r"\n[ \t]*\n[ \t]*(?!https?\b)[^\W\d_][\w '-]{1,23}[:：][ \t]*\S[^\n]{0,80}\n[ \t]*\S"),
    ),
    (
        "a line of a chat",
        lazy_pattern(
            r"(?:^|\n)[ \t]*[^\W\d_][\w .'-]{1,28}[,·|–—-]?\s+[\[(]?\d{1,2}[:.]\d{2}(?:\s?[ap]m)?[\])]?[ \t]*[:：]?[ \t]*\n", re.IGNORECASE
        ),
    ),
)
# Marks without an edge: the start of the pasted text is unknown.
EDGELESS: Final = (
    (
        "the header of a mail",
        lazy_pattern(
            r"^\W{0,4}(?:from|to|cc|bcc|subject|sent|date|reply-to|author|reporter|assignee|von|an|betreff|gesendet|de|à|objet|para"
            r"|asunto|enviado|da|oggetto|assunto|onderwerp|temat|от|кому|тема|发件人|收件人|主题|差出人|件名|보낸 사람|제목)\s*[:：]\s*\S",
            _I,
        ),
    ),
    (
        "a forwarded mail",
        lazy_pattern(
            r"(?:original message|forwarded message|begin forwarded|weitergeleitete nachricht|ursprüngliche nachricht|message transféré"
            r"|mensaje reenviado|пересланное)|"
            r"^(?:on|am|le|el|il|em|op) .{4,80}(?:wrote|schrieb"
            r"|a écrit|escribió|ha scritto|escreveu|schreef)\b|写道|さんは書きました|님이 작성",
            _I,
        ),
    ),
    (
        "a salutation",
        lazy_pattern(
            rf"^\W{{0,3}}(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|greetings|liebe[rs]?|hallo|moin|servus|guten (?:morgen"
            rf"|tag)|sehr geehrte\w*|bonjour|salut|cher|chère|hola|buen[oa]s|estimad\w+|querid\w+|ciao|gentile|buongiorno|caro|olá"
            rf"|prezad\w+|beste|geachte|cześć|szanown\w+"
            rf"|здравствуйте|добрый день|уважаем\w+|привет|您好|你好|尊敬的|お世話になって|안녕하세요)(?! "
            rf"{_NAMES}\b)[^\n.?]{{0,40}}[,，!、:]?[ \t]*$(?=\s*\S)",  # a greeting without any text after it brings none
            _I,
        ),
    ),
    (
        "a signature",
        lazy_pattern(
            r"(?:^|[.!?\n]\s*)(?:best(?: regards| wishes)?|kind regards|warm regards|regards|cheers|thanks(?: in advance| again)?|thank "
            r"you|many thanks|sincerely|yours(?: \w+)?|(?:viele|beste|liebe|schöne|freundliche) grüße|mit freundlichen grüßen|mfg|lg|vg"
            r"|gruß|cordialement|bien à vous|amicalement|merci(?: d'avance)?|saludos(?: cordiales)?|un saludo|atentamente|gracias"
            r"|cordiali saluti|saluti|distinti saluti|grazie|atenciosamente|abraços|obrigad[oa]|groet(?:en|jes)?|met vriendelijke groet"
            r"|pozdrawiam|z poważaniem|с уважением|спасибо"
            r"|всего доброго|此致|敬上|祝好|谢谢|よろしくお願いします|감사합니다"
            r"),?[ \t]*(?:\n\s*[A-ZÀ-ÞА-Я\u4e00-\u9fff\uac00-\ud7a3][^\n]{0,40}"
            rf"|[ \t]+[-–—]?[ \t]*{_NAME})\s*$"
            rf"|\n\s*(?:--|—|–)\s*\n?\s*\w[^\n]{{0,40}}\s*$|(?<=\S)[ \t]+(?:[–—]{{1,2}}[ \t]?|--?[ \t]+)@?{_NAME}\s*$"
            rf"|^(?:sent from my|gesendet von"
            r"|envoyé de mon)\b|(?:此致|敬上)",
            _I,
        ),
    ),
    (
        "somebody's words",
        lazy_pattern(
            rf"\b(?:according to|as per|laut|selon|d'après|según|secondo|segundo|volgens|według|согласно)\b|(?<!\bi )(?<!\bwe )(?<!\bich "
            rf")(?<!\bje )\b{_SAYING}\b(?=\W|$)|(?:说|說|写道|表示|回复|さんが|曰く|님이|라고 (?:말|했))",
            _I,
        ),
    ),
    (
        "something pasted",
        lazy_pattern(
            rf"^\W{{0,6}}(?!(?:please )?(?:{_ORDERS}|{_DEEDS}) )"
            rf"(?:the |this |my |our |die |der |das |le |la |el |il |o )?(?:[\w#-]+ ){{0,3}}{_THINGS}\b{_OWN}[^\n:：.]{{0,50}}[:：]|"
            rf"\b(?:here(?:'s| is| are)|below (?:is|are)|this is|see|attached|pasted?|pasting|following|voici|ci-dessous|hier (?:ist"
            rf"|sind|kommt|die|der|das)|unten|folgende\w*|aquí (?:está|tienes|va)|siguiente|ecco|segue|aqui está|hieronder|oto|poniżej"
            rf"|вот|ниже)\b[^\n.!?]{{0,60}}[:：]|"
            rf"\b{_ORDERS} (?:this|that|the|my|our|diese\w*|die|den|das|ce(?:tte)?|cet|le|la|este|esta|el|questo|questa"
            rf"|это\w?)?\s?(?:[\w-]+ )?{_THINGS}\b{_MORE}|"
            rf"(?:メッセージ|メール|コメント|메시지|메일|댓글|消息|邮件|评论)[：:]|(?:以下|下面|如下|次の|以下の|다음)(?:是|の|은"
            rf"|는)?[^\n]{{0,20}}[:：]|(?:回复|回答|处理|翻译|总结)[^\n]{{0,12}}(?:邮件|评论|消息|客户|工单|反馈|issue)|\bgot "
            rf"(?:this|a|an|the following)\b[^\n.]{{0,40}}\b{_THINGS}\b|\b(?:i|we|ich habe|j'ai|recibí|ho ricevuto) (?:got|received"
            rf"|bekommen|reçu)\b",
            _I,
        ),
    ),
    (
        "a chat",
        lazy_pattern(
            r"^\W{0,2}\[?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?: ?[AP]M)?\]?\W{0,3}\s*<?@?[\w.-]+|^<@?[\w.-]+>"
            r"|^@?[\w.-]{2,30}\s+(?:\[?\d{1,2}:\d{2}|\(\d{1,2}:\d{2}|(?-i:APP)\b|—|today at|yesterday at)|^@[\w.-]+[ :,]",
            _I,
        ),
    ),
    ("a dialogue", lazy_pattern(r"(?:^|\n)\s*(?!https?\b)[\w .'-]{2,24}[:：] [^\n]+\n+\s*(?!https?\b)[\w .'-]{2,24}[:：] ", re.IGNORECASE)),
    (
        "a role",
        lazy_pattern(
            r"(?:^|[\n\]>*_\s])\W{0,3}(?:system|assistant|user|human|developer|tool|admin(?:istrator)?|operator|anthropic|openai"
            r"|moderator|root|maintainer|security(?: team)?)(?: (?:prompt|message|note|notice|override|instruction|reminder"
            r"|says))?\s*\]?\**\s*[:：>]",
            re.IGNORECASE,
        ),
    ),
    ("a template of a prompt", lazy_pattern(r"<\|[a-z_]+\|>|\[INST\]|###\s*(?:system|instruction)", re.IGNORECASE)),
    (
        "words to an agent",
        lazy_pattern(
            r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your |every )*(?:previous|prior|above|earlier|other|former) "
            r"(?:instructions?|rules?|prompts?|messages?|guidelines)|"
            r"\b(?:note|notice|message|instructions?|attention|important|reminder|hint|dear|for|to) (?:for |to )?(?:all |any |the |every "
            r"|your )?(?:ai|llm|agents?|assistants?|(?:ai|coding|language) (?:agents?|assistants?|models?|tools?)|bots?|copilots?|claude"
            r"|codex)\b(?:\s*[:：,]| (?:must|should|reading|working|processing))|"
            r"\b(?:ai|coding|automated) (?:agents?|assistants?|tools?|models?)(?: \w+){0,6} (?:must|should|shall|need to|have to|are "
            r"(?:required|expected|asked))|"
            r"\bthe (?:user|person|owner|developer|operator|human|boss|team lead|cto) (?:has |have |already |always )*(?:said|wants?"
            r"|asked|approved|agreed|authori[sz]ed|prefers?|told|requires?|instructed|confirmed|expects)|"
            r"\b(?:in|into|to) (?:your|the agent's|its) (?:long[- ]term )?(?:memory|memories|knowledge base|notes)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "a trailer of a commit",
        lazy_pattern(
            r"^(?:commit [0-9a-f]{7,40}\b|(?:signed-off|co-authored|reported|reviewed|acked)-by:)"
            r"|(?<=\n)(?:fix|feat|chore|docs|refactor|build|ci|perf|test)(?:\([\w./-]+\))?!?: ",  # a first line is often a person's order
            _I,
        ),
    ),
    ("a link with a title", lazy_pattern(r"!?\[[^\]\n]{1,120}\]\([^)\n]+\)")),
    ("hidden signs", lazy_pattern("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")),
)
FOLLOWS: Final = lazy_pattern(  # the person says that another person's words follow
    r"\b(?:here(?:'s| is| are)|below|following|attached|pasted?|see (?:this|below)|this is (?:what|the|a)|answer|reply|respond|address"
    r"|fix|implement|handle|triage|summari[sz]e|translate|look at|review|now|then|next|"
    r"hier|unten|folgend\w*|beantworte\w*|bearbeite|jetzt|dann|danach|voici|ci-dessous|réponds|traite|maintenant|ensuite|aquí|siguiente"
    r"|responde|ahora|luego|ecco|rispondi|ora|poi|aqui|agora|hieronder|nu|teraz|вот|ниже|ответь|теперь|потом)\b|以下|下面|如下|现在|然后|次|다음|이제",
    re.IGNORECASE,
)
SENTENCE: Final = lazy_pattern(r"[^.!?\n。！？]+(?:[.!?](?![\s\"'”»)\]]|$)[^.!?\n。！？]*)*[.!?。！？]*[\"'”»)\]]?\n?")
DENIAL: Final = lazy_pattern(
    r"(?:(?:no(?=[\s]*[,.:;!–—-])|nope|wrong|actually|nein|nee|quatsch|falsch|non(?=[\s]*[,.:;!–—-])|faux|нет|неверно|不对|不是|违う"
    r"|(?:that|this|it|das)(?:'s| is| was| ist| war)? (?:wrong|incorrect|falsch|not (?:right|true|correct)|nicht (?:richtig|wahr|korrekt))"
    r"|you(?:'re| are) (?:wrong|mistaken)|du (?:irrst dich|liegst (?:da )?falsch)|(?:das )?stimmt (?:so )?nicht)\b[\s,.:;!–—-]*)+",
    re.IGNORECASE,
)
STATES: Final = lazy_pattern(  # a subject with a name, then a verb of state
    r"(?!(?:i|you|we|it|that|this|they|there|he|she|please|let|ich|du|wir|ihr|sie|er|es|man|bitte|lass)\b)"
    r"(?:(?:the|our|each|every|all|its|this|these)\s+)?[`\w./()\[\]-]+(?:\s+[`\w./()-]+){0,5}?\s+"
    r"(?:is|are|was|were|has|have|uses?|needs?|takes?|returns?|raises?|lives?|belongs?|comes?|goes|does(?:n't| not)|do(?:n't| not)|must|can"
    r"(?:not|'t)?|should|will|won't|isn't|aren't|reads?|writes?|calls?|expects?|requires?|supports?|handles?|throws?|depends|stores?|keeps?"
    r"|holds?|inherits?|implements?|accepts?|allows?"
    r"|ist|sind|war|waren|hat|haben|wird|werden|kann|können|muss|müssen|darf|dürfen|soll|sollen|(?:be)?nutzt|benutzen|verwende[nt]"
    r"|brauch(?:t|en)|nimmt|liefer(?:t|n)|gibt|geben|wirft|werfen|liegt|liegen|gehör(?:t|en)|kommt|liest|lesen|schreib(?:t|en)|ruft|rufen"
    r"|erwarte(?:t|n)|verlangt|unterstütz(?:t|en)|behandel(?:t|n)|speicher(?:t|n)|hält|halten|erb(?:t|en)|enthält|enthalten|puffer(?:t|n)"
    r"|läuft|laufen|startet|endet|prüf(?:t|en)|fängt|steht|stehen|heißt|heißen|bleibt|gilt|hängt)\b",
    re.IGNORECASE,
)
MOMENT: Final = lazy_pattern(
    r"\b(?:now|still|again|today|currently|yet|fine|ok(?:ay)?|broken|failing|fails|failed|done|missing|better|nice|enough|instead|please"
    r"|jetzt|noch|wieder|gerade|heute|aktuell|momentan|kaputt|fertig|besser|bitte)\b",
    re.IGNORECASE,
)
BACK: Final = lazy_pattern(
    r"(?:please |and |so |ok(?:ay)?,? |bitte |por favor )*(?:(?:remember|memori[sz]e|note|save|keep) (?:that|this|it)(?: in mind)?|keep "
    r"(?:that|this|it) in mind|merk(?:e)? dir das|retiens(?:-le| ça)|souviens-t'en|recuérdalo|recuerda esto|ricordalo|lembre-se disso"
    r"|onthoud dat|zapamiętaj to|запомни это|记住这一?点?"
    r"|覚えておいて)(?:,? (?:please|bitte|for (?:later|next time|the future)))?[\s.!。！]*$",
    re.IGNORECASE,
)
SPACELESS: Final = lazy_pattern(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
THAT: Final = lazy_pattern(r"^(?:that|dass|que|qu'|che|dat|że|что|що|att|at)\s+", re.IGNORECASE)
