"""Invented names for the example profiles.

Each list is cut into three parts (train, dev, unseen), so that a model which learned names by
heart finds none of them again.
"""


def _names(listed: str) -> tuple[str, ...]:
    return tuple(listed.split(", "))


WOMEN = _names(
    "Mara, Ilse, Tove, Brida, Nela, Corinne, Sunniva, Odile, Petra, Greta, Yrsa, Lavinia, Amelie, "
    "Renske, Dagny, Tilda, Marlis, Ottilie, Hedda, Vesna, Ludmila, Carys"
)

MEN = _names(
    "Anselm, Jorik, Tobias, Emeric, Lasse, Corvin, Bertil, Matthis, Oskar, Ruben, Stellan, Ivo, "
    "Caspian, Leander, Halvard, Piet, Gideon, Aurel, Fabian, Sander, Ludo, Evander"
)

SURNAMES = _names(
    "Velden, Harkness, Ostrander, Brackwater, Lindqvar, Tamsin, Okerby, Dravet, Mollister, "
    "Fenwick, Garrowby, Selvig, Threlkeld, Vandermoor, Pellerin, Isherton, Kestrel, Bramhall, "
    "Quist, Noorland, Castellane, Wexcombe, Ravnsborg, Tolliver, Duskin, Hathersage, Merriden, "
    "Zellweg, Orlovan, Birkdale, Ashgrove, Corvalis, Lundmark, Pemberwick, Strandgaard, Yarrow, "
    "Delacour, Hollins, Varga, Skelmore, Rosmead, Tindale, Eskeland, Barrowman, Lachlane, "
    "Winterbourne, Fairholm, Oxmantle"
)

COMPANIES = _names(
    "Quillmark, Brenholt, Ostrion, Lumenfall, Harrowgate, Tesselin, Northvane, Calderis, "
    "Pinework, Aldova, Marrowby, Silverkeel, Grisholm, Fennbrook, Orchardline, Vantrell, "
    "Copperleaf, Dunmarsh, Helioforge, Brightsluice, Kappelin, Stonewicket, Averlund, Millrace, "
    "Turnstone, Redlarch, Oakhaven, Pellucida, Winnoway, Saltmere, Thornbury, Glasswing"
)

COMPANY_ENDINGS = ("Ltd", "AG", "Group", "Works", "Holdings", "Company")

SCHOOLS = _names(
    "Halden College, Ravensmoor University, Merrin Naval Institute, Saint Orlan Academy, "
    "Kingsferry Polytechnic, Lowen Institute of Technology, Marchfield College, Tarn University, "
    "Ferrier School of Navigation, Weaver College, Eastbridge University, Larkin Academy, "
    "Ottermouth College, Northgate Polytechnic, Bellamy Institute, Greyfriars University"
)

TOWNS = _names(
    "Torvik, Ashmere, Brunnhaven, Calloway, Dorrin, Elsbrook, Farrowmouth, Gildenau, Hexley, "
    "Istmark, Jarnholt, Kelverton, Lorne, Mistvale, Nettlebury, Orsund, Palmery, Quenby, "
    "Rosthaven, Skarnes, Tiverness, Ulvang, Varrenby, Westerlo, Yelmouth, Zandwick, Bellhythe, "
    "Crowmarsh, Drumore, Esterwald, Fjellhamn, Granby"
)

REGIONS = _names(
    "Hask Province, County Merrow, Upper Sedge, Lakeland Shire, Tarrin District, Lower Vale, "
    "Pine Coast, County Brannock, Oster Province, Greenmark, Eastern Fells, Rill Valley, "
    "Stavor District, County Wyle, Long Heath, Marsh Province"
)

COUNTRIES = {  # the country and its adjective, which is a mention of it too
    "Velmaria": "Velmar",
    "Norvania": "Norvan",
    "Tarsland": "Tarsic",
    "Quendoria": "Quendish",
    "Brescovia": "Brescan",
    "Lethonia": "Lethian",
    "Sundmark": "Sundish",
    "Karelund": "Karelic",
    "Mirovia": "Miric",
    "Dalmoria": "Dalmor",
    "Hestria": "Hestan",
    "Gallendia": "Gallend",
}

PRIZES = _names(
    "Lantern Prize, Golden Compass, Sextant Medal, Order of the Heron, Silver Anvil, "
    "Wayfarer Award, Blue Ribbon of Invention, Harbour Medal, Acorn Prize, Northern Star"
)

PRODUCTS = _names(
    "Tidewatch, Nimbus Seven, Ironlark, Paper Swan, Kestrel Engine, Moonglass, Atlas Loom, "
    "Windhover, Quickwater Pump, Model Nine"
)

SHIPS = _names(
    "Grey Heron, Sea Lantern, Northern Thistle, Silver Petrel, Merry Cooper, Harbour Rose, "
    "Long Patience, Amber Gull, Winter Star, Brave Miller, Copper Seal, Quiet Morning, "
    "Blue Cormorant, Old Promise, Swift Otter, Iron Duchess, Golden Plover, Fair Exchange, "
    "Salt Widow, Evening Tide, Painted Drum, White Magpie, Second Chance, Stormy Kate, "
    "Lucky Farthing, Tall Juniper, Black Curlew, Patient Anna, Western Light, River Queen"
)

MONTHS = _names(
    "January, February, March, April, May, June, July, August, September, October, November, "
    "December"
)

# Plain words: they fill a place in a sentence and are not mentions.
JOBS = _names(
    "mechanic, chemist, painter, botanist, shipbuilder, novelist, geologist, watchmaker, "
    "physician, surveyor, composer, mathematician"
)

SUBJECTS = _names(
    "chemistry, law, naval design, economics, botany, music, metallurgy, history, geology, "
    "textile design"
)

GOODS = _names(
    "pumps, clocks, sails, paper, glass, bicycles, turbines, lamps, furniture, surgical tools, "
    "ropes, paints"
)

FEATURES = _names("slate quarries, pine forests, orchards, salt marshes, windmills, copper mines")
