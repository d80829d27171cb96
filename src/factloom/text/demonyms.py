"""Countries under their other names: Sweden and Swedish, the United States and American.

A text names a country by its adjective as often as by its name. Annotators keep the two apart as
things, but facts about either are facts about the same country.
"""

_TABLE = """
Afghanistan Afghan Afghans
Albania Albanian Albanians
Algeria Algerian Algerians
Angola Angolan Angolans
Argentina Argentine Argentinian Argentines
Armenia Armenian Armenians
Australia Australian Australians
Austria Austrian Austrians
Azerbaijan Azerbaijani Azeri
Bangladesh Bangladeshi
Belarus Belarusian Byelorussian
Belgium Belgian Belgians
Bolivia Bolivian Bolivians
Bosnia Bosnian Bosnians
Botswana Botswanan
Brazil Brazilian Brazilians
Britain British Briton Britons United_Kingdom UK Great_Britain
Bulgaria Bulgarian Bulgarians
Burma Burmese Myanmar
Cambodia Cambodian Khmer
Cameroon Cameroonian
Canada Canadian Canadians
Chile Chilean Chileans
China Chinese People's_Republic_of_China PRC
Colombia Colombian Colombians
Congo Congolese
Costa_Rica Costa_Rican
Croatia Croatian Croat Croats
Cuba Cuban Cubans
Cyprus Cypriot
Czech_Republic Czech Czechs Czechia
Czechoslovakia Czechoslovak Czechoslovakian
Denmark Danish Dane Danes
Dominican_Republic Dominican
Ecuador Ecuadorian
Egypt Egyptian Egyptians
El_Salvador Salvadoran
England English Englishman
Eritrea Eritrean
Estonia Estonian Estonians
Ethiopia Ethiopian Ethiopians
Fiji Fijian
Finland Finnish Finn Finns
France French Frenchman
Georgia Georgian Georgians
Germany German Germans Federal_Republic_of_Germany
Ghana Ghanaian
Greece Greek Greeks
Guatemala Guatemalan
Guinea Guinean
Haiti Haitian
Honduras Honduran
Hungary Hungarian Hungarians
Iceland Icelandic Icelander
India Indian Indians
Indonesia Indonesian Indonesians
Iran Iranian Iranians Persia Persian
Iraq Iraqi Iraqis
Ireland Irish Irishman Republic_of_Ireland
Israel Israeli Israelis
Italy Italian Italians
Ivory_Coast Ivorian
Jamaica Jamaican
Japan Japanese
Jordan Jordanian
Kazakhstan Kazakh Kazakhs
Kenya Kenyan Kenyans
Korea Korean Koreans
Kosovo Kosovar
Kuwait Kuwaiti
Kyrgyzstan Kyrgyz
Laos Laotian Lao
Latvia Latvian Latvians
Lebanon Lebanese
Liberia Liberian
Libya Libyan
Lithuania Lithuanian Lithuanians
Luxembourg Luxembourgish
Macedonia Macedonian
Madagascar Malagasy
Malawi Malawian
Malaysia Malaysian
Mali Malian
Malta Maltese
Mexico Mexican Mexicans
Moldova Moldovan
Mongolia Mongolian Mongol
Montenegro Montenegrin
Morocco Moroccan
Mozambique Mozambican
Namibia Namibian
Nepal Nepalese Nepali
Netherlands Dutch Dutchman Holland
New_Zealand New_Zealander
Nicaragua Nicaraguan
Nigeria Nigerian Nigerians
North_Korea North_Korean
Northern_Ireland Northern_Irish
Norway Norwegian Norwegians
Oman Omani
Ottoman_Empire Ottoman Ottomans
Pakistan Pakistani Pakistanis
Palestine Palestinian Palestinians
Panama Panamanian
Papua_New_Guinea Papua_New_Guinean
Paraguay Paraguayan
Peru Peruvian Peruvians
Philippines Philippine Filipino Filipinos
Poland Polish Pole Poles
Portugal Portuguese
Puerto_Rico Puerto_Rican
Qatar Qatari
Romania Romanian Romanians
Russia Russian Russians Russian_Federation
Rwanda Rwandan
Saudi_Arabia Saudi Saudi_Arabian
Scotland Scottish Scot Scots
Senegal Senegalese
Serbia Serbian Serb Serbs
Sierra_Leone Sierra_Leonean
Singapore Singaporean
Slovakia Slovak Slovakian Slovaks
Slovenia Slovenian Slovene Slovenes
Somalia Somali Somalis
South_Africa South_African South_Africans
South_Korea South_Korean South_Koreans Republic_of_Korea
Soviet_Union Soviet Soviets USSR
Spain Spanish Spaniard Spaniards
Sri_Lanka Sri_Lankan
Sudan Sudanese
Sweden Swedish Swede Swedes
Switzerland Swiss
Syria Syrian Syrians
Taiwan Taiwanese Republic_of_China
Tajikistan Tajik
Tanzania Tanzanian
Thailand Thai Thais
Trinidad_and_Tobago Trinidadian
Tunisia Tunisian
Turkey Turkish Turk Turks Türkiye
Turkmenistan Turkmen
Uganda Ugandan
Ukraine Ukrainian Ukrainians
United_Arab_Emirates Emirati UAE
United_States American Americans US U.S. USA U.S.A. United_States_of_America
Uruguay Uruguayan
Uzbekistan Uzbek Uzbeks
Venezuela Venezuelan Venezuelans
Vietnam Vietnamese
Wales Welsh Welshman
Yemen Yemeni
Yugoslavia Yugoslav Yugoslavian
Zambia Zambian
Zimbabwe Zimbabwean
"""

_COUNTRY = {
    name.replace("_", " ").casefold(): line.split()[0].replace("_", " ")
    for line in _TABLE.strip().splitlines()
    for name in line.split()
}


def country_of(name: str) -> str | None:
    """The country that is meant by its name or by its adjective.

    >>> country_of("the Swedes"), country_of("U.S."), country_of("Uppsala")
    ('Sweden', 'United States', None)
    """
    return _COUNTRY.get(name.casefold().removeprefix("the ").strip())
