"""Which language a text in Latin letters is written in, told by the small words that it is full of.

A third to a half of the words of running text are function words, and each language has its own.
That takes no model; it is for telling a text that a model cannot read, so it keeps silent where it
is not sure: about few words, lists of names, and texts in two languages.
"""

import re
from collections import Counter
from collections.abc import Collection
from itertools import islice

_WORD = re.compile(r"[^\W\d_]+")
_LOOKED_AT = 1_000  # words
_FEWEST = 20  # words; less tell nothing
_LEAST = 0.15  # part of the words that are function words of the language
_TIMES = 3  # how many more they are than those of a language that is known

NAMES = {
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "sv": "Swedish",
    "tr": "Turkish",
}

_WORDS = {
    "cs": "a v se na je že s z do o to i za by jako po pro ale ve od při které který která jeho "
    "byl byla bylo jsou také až než nebo roce k ze",
    "da": "og i at en er det til af på den med for der var et som fra de har han blev ikke efter "
    "om sig ved eller også kan hun sin hvor være",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch "
    "es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über so zum "
    "war wurde zur bis oder einen vor durch seine ihre sein",
    "en": "the of and to in a is that for it as was with be by on not he his but at are this "
    "have from or had an they which one were all we when there been has more their its who will "
    "would she her him i you if so no after into than also what my do about up out them then "
    "only some could other over can most between first during where before",
    "es": "de la que el en y a los se del las un por con una su para es al lo como más o pero "
    "sus le fue este ha sí entre cuando también hasta desde nos durante era años son sobre muy",
    "fi": "ja on oli hän se että ei joka mutta myös kun sen ovat olivat hänen jossa vuonna kuin "
    "ole mukaan sekä niin ollut vuoden jonka tai eli vain sitä tämä",
    "fr": "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce "
    "il sont avec son sa ses aux ou mais comme été cette fut elle leur également après entre où",
    "hu": "a az és hogy nem is egy ez volt meg csak már de még mint el vagy azt ki sem ha kell "
    "lett után majd szerint között pedig",
    "id": "yang dan di dari untuk pada dengan adalah ini dalam tidak itu ke sebagai oleh juga "
    "telah akan karena atau seorang ia dia tersebut bahwa tahun",
    "it": "di e il la che in un a per è una sono del con non della dei le si da al i come nel "
    "anche alla più gli suo ma delle dal fu ha lo nella sua dalla era",
    "nl": "de van het een en in is dat op te zijn met voor niet aan er om ook als dan maar bij "
    "of uit nog worden door naar heeft tot ze was wordt zich hij werd over deze die",
    "no": "og i det er på til som en for av at med de ikke den har ble fra var et han om seg "
    "også ved etter eller hun sin hvor være ut men",
    "pl": "w i na z się do nie że o jest to jak po od przez za dla oraz był była jego roku ale "
    "ze są został która który które tego jako może czy",
    "pt": "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi "
    "ao ele das tem à seu sua ou ser quando muito há nos já está também pelo pela até era",
    "ro": "de în și a la care cu din pe o un că este nu mai au al ale pentru prin fost sau lui "
    "sunt după fi era între dar anul său",
    "sv": "och i att det som en på är av för med den till inte har de ett om var han men sig "
    "från vid eller också efter kan sin hon där år när",
    "tr": "ve bir bu için de da ile olarak olan çok daha gibi en sonra kadar ise olduğu ancak ya "
    "o tarafından her ne var göre değil yılında",
}
FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _WORDS.items()}


def foreign_language(text: str, known: Collection[str]) -> str | None:
    """The language of a text that is surely in none of the known ones; else None.

    >>> text = "Der Hund ist in dem Garten und er schläft, weil es so warm ist. Das ist nicht " * 2
    >>> foreign_language(text, ["en"]), foreign_language(text, ["de"])
    ('de', None)
    """
    found = _WORD.finditer(text)
    words = Counter(match[0].lower() for match in islice(found, _LOOKED_AT))
    if words.total() < _FEWEST:
        return None
    shares = {
        language: sum(words[word] for word in own) / words.total()
        for language, own in FUNCTION_WORDS.items()
    }
    language = max(shares, key=lambda one: shares[one])
    most_of_known = max((shares.get(one, 0.0) for one in known), default=0.0)
    is_sure = shares[language] >= max(_LEAST, _TIMES * most_of_known)
    return language if is_sure and language not in known else None
