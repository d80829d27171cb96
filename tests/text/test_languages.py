"""Texts in other languages are told, and never those that a model can read."""

import pytest

from factloom.text.languages import FUNCTION_WORDS, NAMES, foreign_language

TEXTS = {
    "cs": "Mara se narodila v malém městě na severu země a po škole odešla do hlavního města, "
    "kde pracovala jako lékařka. Její bratr byl učitel, ale to se mu nelíbilo, a proto od roku "
    "1950 psal knihy o moři.",
    "da": "Mara blev født i en lille by i nord, og efter skolen tog hun til hovedstaden, hvor "
    "hun var læge på et hospital. Hendes bror var ikke glad for det, men han kom også til byen "
    "med sin kone.",
    "de": "Mara wurde in einer kleinen Stadt im Norden geboren und ging nach der Schule in die "
    "Hauptstadt, wo sie als Ärztin an einem Krankenhaus war. Ihr Bruder ist mit dem Schiff aus "
    "dem Land gefahren.",
    "en": "Mara was born in a small town in the north, and after school she went to the capital, "
    "where she was a doctor at a hospital. Her brother left the country by ship in 1950.",
    "es": "Mara nació en una pequeña ciudad del norte y después de la escuela se fue a la "
    "capital, donde era médica en un hospital. Su hermano salió del país en un barco con los "
    "otros.",
    "fi": "Mara syntyi pienessä kaupungissa pohjoisessa ja hän lähti koulun jälkeen "
    "pääkaupunkiin, jossa hän oli lääkäri. Hänen veljensä ei ollut siellä, mutta hän tuli myös "
    "sinne, kun se oli mahdollista, ja he olivat siellä vuoden 1950 ajan.",
    "fr": "Mara est née dans une petite ville du nord et elle est partie après l'école pour la "
    "capitale, où elle était médecin dans un hôpital. Son frère a quitté le pays sur un bateau "
    "avec les autres.",
    "hu": "Mara egy kisvárosban született az ország északi részén, és az iskola után a fővárosba "
    "ment, hogy ott orvos legyen. A bátyja nem volt ott, de ez után már ő is el akart menni, "
    "mint a többi, és meg is tette.",
    "id": "Mara lahir di sebuah kota kecil di utara dan setelah sekolah ia pergi ke ibu kota "
    "untuk bekerja sebagai dokter. Kakaknya tidak tinggal di kota itu karena dia bekerja pada "
    "kapal yang berlayar dari negara ini dengan awaknya.",
    "it": "Mara è nata in una piccola città del nord e dopo la scuola andò nella capitale, dove "
    "era medico in un ospedale. Suo fratello non era con lei, ma ha lasciato il paese con gli "
    "altri.",
    "nl": "Mara werd in een kleine stad in het noorden geboren en ging na de school naar de "
    "hoofdstad, waar ze arts was in een ziekenhuis. Haar broer is met het schip uit het land "
    "gegaan, maar hij kwam ook terug.",
    "no": "Mara ble født i en liten by i nord, og etter skolen dro hun til hovedstaden, hvor hun "
    "var lege på et sykehus. Broren var ikke glad for det, men han kom også til byen med kona "
    "si.",
    "pl": "Mara urodziła się w małym mieście na północy i po szkole pojechała do stolicy, gdzie "
    "była lekarką. Jej brat nie był z nią, ale został w mieście, które jest nad morzem, oraz "
    "pisał o nim przez rok dla gazety.",
    "pt": "Mara nasceu em uma pequena cidade do norte e depois da escola foi para a capital, "
    "onde era médica em um hospital. O seu irmão não estava com ela, mas também saiu do país com "
    "os outros.",
    "ro": "Mara s-a născut într-un oraș mic din nordul țării și după școală a plecat la "
    "capitală, unde a fost medic. Fratele său nu a fost cu ea, dar a venit și el în oraș pe o "
    "navă care era mai mare.",
    "sv": "Mara föddes i en liten stad i norr och efter skolan for hon till huvudstaden, där hon "
    "var läkare på ett sjukhus. Hennes bror var inte glad för det, men han kom också till staden "
    "med sin fru.",
    "tr": "Mara kuzeyde küçük bir kasabada doğdu ve okuldan sonra başkente gitti, bir hastanede "
    "doktor olarak çalıştı. Kardeşi ise onunla değil, daha sonra bir gemi ile geldi ve bu ülkede "
    "çok uzun bir zaman için kaldı.",
}
NEAR = {"da": {"da", "no"}, "no": {"da", "no"}}  # nearly the same small words


@pytest.mark.parametrize("language", FUNCTION_WORDS)
def test_every_language_is_told_where_it_is_not_known(language: str) -> None:
    others = [other for other in ("en", "fi") if other != language]
    found = foreign_language(TEXTS[language], others)
    assert found in NEAR.get(language, {language})
    assert foreign_language(TEXTS[language], [language]) is None
    assert foreign_language(TEXTS[language], [language, "tr"]) is None
    assert NAMES[language]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Der Hund ist in dem Garten und schläft.",  # few words
        " ".join(f"{name} Velden, Torvik;" for name in ("Ada", "Ida", "Mara", "Per") * 5),
        f"{TEXTS['en']} {TEXTS['de']}",  # in two languages
        "The paper Der Tag und die Nacht by Hans von der Heide is in the library of the city, and "
        "so is the book Die Stadt an der Elbe.",
    ],
)
def test_what_may_be_of_a_known_language_is_left_alone(text: str) -> None:
    assert foreign_language(text, ["en"]) is None
