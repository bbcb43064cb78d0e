"""What is said for what is written, by kind, in both languages."""

from __future__ import annotations

import pytest

from edge_tts.text.normalise import normalise
from edge_tts.text.reading.units import DEFAULT, Unit
from edge_tts.text.report import Tally
from edge_tts.text.spoken import spoken_text
from edge_tts.text.tokens import Language, Span

ZH, EN = Language.ZH, Language.EN


def said(text, language=None, **options):
    return spoken_text(normalise(text, language=language, **options))


ENGLISH = {
    "T01 money, title, year": (
        "Mr Lee paid $500 in 1908",
        "mister Lee paid five hundred dollars in nineteen oh eight",
    ),
    "T02 cardinals": ("10 and 1,835", "ten and one thousand eight hundred thirty five"),
    "T03 ordinal": ("1st", "first"),
    "T03 clock": ("12:01am", "twelve oh one A M"),
    "T03 date": ("1/1/2023", "January first twenty twenty three"),
    "T04 units": (
        "3 kWh, 4 h, 60 km/h",
        "three kilowatt hours, four hours, sixty kilometers per hour",
    ),
    "T05 metres": ("Turn right in 500 m", "Turn right in five hundred meters"),
    "T06 version": ("Version 3.14.15", "Version three point fourteen point fifteen"),
    "T06 phone": ("Call 555-1234", "Call five five five, one two three four"),
    "T08 codes": ("705A and E100", "seven oh five A and E one hundred"),
    "T08 list marker": ("1. Spring", "Spring"),
    "T09 accents": ("natürlich café", "natürlich café"),
    "T11 markup": ("**Hi** 😀 `there`", "Hi there"),
    "T15 tags": ('Wait <break time="0.5s"/> here', "Wait here"),
    "S01 abbreviations": (
        "Dr. Wu at 9 a.m. in the U.S. office",
        "doctor Wu at nine A M in the U S office",
    ),
    "S02 decimals": (
        "98.6°F and v1.0.0",
        "ninety eight point six degrees Fahrenheit and version one point zero point zero",
    ),
    "large": ("1,234,567", "one million two hundred thirty four thousand five hundred sixty seven"),
    "ordinals": ("2nd 3rd 21st 100th", "second third twenty first one hundredth"),
    "ordinal range": ("3rd-5th floors", "third to fifth floors"),
    "decimals": ("0.5, .25 and 3.14", "zero point five, point two five and three point one four"),
    "fractions": (
        "3/4, 1/2, 2/3, 120/80",
        "three quarters, one half, two thirds, one hundred twenty over eighty",
    ),
    "fraction of a unit": ("In 3/4 mi, exit", "In three quarters of a mile, exit"),
    "month and day": ("due on 12/24.", "due on December twenty fourth."),
    "mixed fraction": ("1½ cups", "one and a half cups"),
    "percent": ("15% off, 5-10%", "fifteen percent off, five to ten percent"),
    "range": ("2-3 days", "two to three days"),
    "not a range": ("Boeing 747-8", "Boeing seven forty seven eight"),
    "negative": ("from -5 to 10", "from minus five to ten"),
    "temperature": ("-5°C", "minus five degrees Celsius"),
    "years": (
        "In 2026, in 2005, in 1900, in 2000",
        "In twenty twenty six, in two thousand five, in nineteen hundred, in two thousand",
    ),
    "year or count": ("2000 cars in 2000 feet", "two thousand cars in two thousand feet"),
    "decades": ("The 1980s and the 90s", "The nineteen eighties and the nineties"),
    "seconds or decade": ("wait 30s", "wait thirty seconds"),
    "dates": (
        "March 3, 2026 or 2025-12-31 or 3/5/2026",
        "March third twenty twenty six or December thirty first twenty twenty five "
        "or March fifth twenty twenty six",
    ),
    "day first": ("3 March 2026", "March third twenty twenty six"),
    "clock": (
        "7:45 PM, 08:05, 9:00, 15:00",
        "seven forty five P M, eight oh five, nine o'clock, fifteen hundred",
    ),
    "clock ends sentence": ("At 10 a.m. Then go", "At ten A M. Then go"),
    "opening hours": (
        "Mon-Fri 9:00-17:30",
        "Monday to Friday nine o'clock to seventeen thirty",
    ),
    "duration": ("1h30m", "one hour thirty minutes"),
    "duration by cue": ("took 2:05:30", "took two hours five minutes thirty seconds"),
    "cents": ("$12.50, $0.99, £1.01", None),
    "money scale": (
        "$3.2 million and $10K",
        "three point two million dollars and ten thousand dollars",
    ),
    "money range": ("$5-10", "five to ten dollars"),
    "rate": ("$5/kWh", "five dollars per kilowatt hour"),
    "toll-free": ("1-800-555-0199", "one, eight oh oh, five five five, oh one nine nine"),
    "area code": ("(415) 555-2671", "four one five, five five five, two six seven one"),
    "short phone by cue": ("Dial 911", "Dial nine one one"),
    "id by cue": ("PIN 0420, order #4521", None),
    "road": (
        "I-95, I-405 South, US-101 N",
        "I ninety five, I four oh five South, U S one oh one north",
    ),
    "flight": ("Flight CA1831 at gate B12", "Flight C A one eight three one at gate B twelve"),
    "flat": ("Apt 5C, 3F", "apartment five C, three F"),
    "exit and seat": ("exit 12B, seat 12A", "exit twelve B, seat twelve A"),
    "room": ("Room 305", "Room three oh five"),
    "leading zero": ("C037", "C zero three seven"),
    "post": ("K1234+500", "K one thousand two hundred thirty four plus five hundred"),
    "score": ("We won 3-1", "We won three to one"),
    "ratio": ("a 16:9 screen", "a sixteen to nine screen"),
    "ip": ("192.168.1.1", None),
    "email": (
        "Mail john_9@mail.com.",
        "Mail john underscore nine at mail dot com.",
    ),
    "url": ("https://www.example.com/map", "W W W dot example dot com slash map"),
    "saint and street": (
        "Elm St. near St. Mary's. Dr. King lives on King Dr. now",
        "Elm street near saint Mary's. doctor King lives on King drive now",
    ),
    "directions": ("5th Ave NW and N. Main St.", "fifth avenue northwest and north Main street."),
    "number sign": ("No. 5. No, thanks", "number five. No, thanks"),
    "initials": ("J.K. Rowling", "J K Rowling"),
    "roman": ("Chapter IV, World War II", "Chapter four, World War two"),
    "ruler": ("Henry VIII", "Henry the eighth"),
    "not roman": ("In this part I mix it", "In this part I mix it"),
    "electric": ("5V/2A, exit 2A", "five volts two amps, exit two A"),
    "consumption": ("6.5 L/100km", "six point five liters per hundred kilometers"),
    "attribute": ("a 60-kWh battery", "a sixty kilowatt hour battery"),
    "singular": ("1 km, 1.0 km", "one kilometer, one point zero kilometers"),
    "product": ("3×4 m", "three by four meters"),
    "acronyms": ("GPS NASA USB-C PCs", "G P S NASA U S B C P C's"),
    "capitals": ("TURN LEFT NOW", "turn left now"),
    "names": ("iPhone WiFi CarPlay McDonald's", "iPhone Wi-Fi CarPlay McDonald's"),
    "codes and words": ("MP3 5G 4K A4", "M P three five G four K A four"),
    "contractions": ("don't, John's, rock'n'roll", "don't, John's, rock'n'roll"),
    "article or letter": ("A car and plan A", "a car and plan A"),
    "hyphens": ("well-known twenty-one", "well-known twenty-one"),
    "signs": ("A & B = 5 + 3 × 2", "A and B equals five plus three times two"),
    "approximately": ("~5 km", "about five kilometers"),
    "comparison": ("3 > 2, x²", "three greater than two, X squared"),
    "dialled": ("*#06#", "star pound zero six pound"),
    "full width": ("ＡＢＣ １２３", "A B C one twenty three"),
}
ENGLISH["cents"] = (
    "$12.50, $0.99, £1.01",
    "twelve dollars and fifty cents, ninety nine cents, one pound and one penny",
)
ENGLISH["id by cue"] = (
    "PIN 0420, order #4521",
    "PIN zero four two zero, order number four five two one",
)
ENGLISH["ip"] = ("192.168.1.1", "one nine two dot one six eight dot one dot one")
ENGLISH["full width"] = ("ＡＢＣ，１２３", "A B C, one hundred twenty three")

CHINESE = {
    "T02 cardinals": ("共1835个", "共一千八百三十五个"),
    "T03 clock": ("12:01am开始", "凌晨十二点零一分开始"),
    "T04 units": ("用电3kWh，60km/h", "用电三千瓦时, 六十公里每小时"),
    "T06 version": ("版本3.14.15", "版本三点十四点十五"),
    "T08 list marker": ("1、春天", "春天"),
    "scale": ("1,250万", "一千二百五十万"),
    "zeros": ("10002个，1020个", "一万零二个, 一千零二十个"),
    "liang": ("2个，2公里，200米，2000元，2万人", "两个, 两公里, 两百米, 两千元, 两万人"),
    "er": ("第2名，2号，2楼，12个，2年级", "第二名, 二号, 二楼, 十二个, 二年级"),
    "decimals": ("128.50元", "一百二十八点五零元"),
    "fraction": ("还剩3/4", "还剩四分之三"),
    "percent": ("15%的人，5%-10%", "百分之十五的人, 百分之五到百分之十"),
    "range": ("3~5公里，5-10分钟", "三到五公里, 五到十分钟"),
    "temperature": ("气温-5度，-5~3℃", "气温零下五度, 零下五到三摄氏度"),
    "negative": ("得了-5分", "得了负五分"),
    "year": ("2026年3月5日，98年，10年", "二零二六年三月五日, 九八年, 十年"),
    "year range": ("2024-2026年", "二零二四到二零二六年"),
    "date": ("定于2025-12-31举行", "定于二零二五年十二月三十一日举行"),
    "clock": ("下午3:25，08:05，2:00", "下午三点二十五分, 八点零五分, 两点"),
    "half of day": ("3:25 PM到达", "下午三点二十五分到达"),
    "opening hours": ("营业9:00-17:30", "营业九点到十七点三十分"),
    "duration": ("用时2:05:30", "用时两小时五分三十秒"),
    "money": ("¥128.50，$12.50，￥99元", "一百二十八点五零元, 十二点五零美元, 九十九元元"),
    "money scale": ("$3.2 million的订单", "三百二十万美元的订单"),
    "rate": ("15元/小时", "十五元每小时"),
    "phone": ("电话400-820-8820", "电话四零零, 八二零, 八八二零"),
    "mobile": ("手机13800138000", "手机幺三八, 零零幺三, 八零零零"),
    "emergency": ("请拨打120", "请拨打幺二零"),
    "count, not phone": ("有120人", "有一百二十人"),
    "id": ("验证码483921", "验证码四八三九二一"),
    "plate": ("车牌京A·12345", "车牌京 A 一二三四五"),
    "code": ("C037车位，A47号", "C 零三七车位, A 四十七号"),
    "flight": ("航班CA1831在B12登机口", "航班 C A 一八三一在 B 十二登机口"),
    "train": ("D301次列车", "D 三零一次列车"),
    "road": ("G107国道，301路公交，12路", "G 一零七国道, 三零一路公交, 十二路"),
    "room": ("1208室", "一二零八室"),
    "post": ("京沪高速K1234+500处", "京沪高速 K 一千二百三十四加五百处"),
    "score": ("比分3:2，3-1战胜", "比分三比二, 三比一战胜"),
    "ip": ("地址192.168.1.1", "地址一九二点一六八点一点一"),
    "email": ("发到info@abc.com吧", "发到 info at abc 点 com 吧"),
    "roman": ("第II章", "第二章"),
    "electric": ("支持5V/2A充电", "支持五伏二安充电"),
    "units": ("胎压250kPa，75μg/m³", "胎压两百五十千帕, 七十五微克每立方米"),
    "decimal code": ("PM2.5为35", "P M 二点五为三十五"),
    "weekday range": ("周一~周五", "周一到周五"),
    "airline and number": ("东航MU 5137", "东航 M U 五一三七"),
    "oil grade": ("机油5W-30", "机油五 W 三十"),
    "petrol grade": ("加95#汽油", "加九十五号汽油"),
    "arrow": ("北京→上海", "北京到上海"),
    "titles": ("《青花瓷》", "“青花瓷”"),
    "full width": ("３：２５到", "三点二十五分到"),
    "lists are not thousands": ("100，200", "一百, 两百"),
}
CHINESE["money"] = ("¥128.50，$12.50，￥99", "一百二十八点五零元, 十二点五零美元, 九十九元")

MIXED = {
    "product number": ("请打开iPhone 15", "请打开 iPhone 十五"),
    "acronym": ("更新GPS地图", "更新 G P S 地图"),
    "english sentence": (
        "The meeting with 王先生 is at 3:30 PM.",
        "The meeting with 王先生 is at three thirty P M.",
    ),
    "english clause": (
        "前方200米左转, turn left in 200 m",
        "前方两百米左转, turn left in two hundred meters",
    ),
    "chinese sentence, english phrase": ("speed limit是100km/h", "speed limit 是一百公里每小时"),
    "tags": ("[LNGzh]10[LNGen]10", "十 ten"),
    "T08 run": ("春 705A and E100 are rooms", "春 seven oh five A and E one hundred are rooms"),
}


@pytest.mark.parametrize("kind", ENGLISH)
def test_english(kind):
    written, spoken = ENGLISH[kind]
    assert said(written) == spoken


@pytest.mark.parametrize("kind", CHINESE)
def test_chinese(kind):
    written, spoken = CHINESE[kind]
    assert said(written) == spoken


@pytest.mark.parametrize("kind", MIXED)
def test_mixed(kind):
    written, spoken = MIXED[kind]
    assert said(written) == spoken


def test_language_settles_bare_digits():
    assert said("3:25", ZH) == "三点二十五分"
    assert said("3:25", EN) == "three twenty five"


def test_every_token_of_an_item_carries_its_span():
    tokens = normalise("in 15% more", base=100)
    assert [(t.text, t.span) for t in tokens[1:3]] == [
        ("fifteen", Span(103, 106)),
        ("percent", Span(103, 106)),
    ]


# CASES T04
def test_users_units_win_over_the_table():
    units = DEFAULT.extended({"kWh": Unit("k watt", "k watts", "度电"), "m": None})
    assert said("3 kWh", units=units) == "three k watts"
    assert said("用了3kWh", units=units) == "用了三度电"
    assert said("5 m", units=units) == "five M"


def test_scripts_no_voice_speaks_are_reported():
    tally = Tally()
    assert said("Привет 你好 مرحبا あ", tally=tally) == "你好"
    kinds = {loss.kind for loss in tally.report().unspeakable}
    assert kinds == {"script:Cyrillic", "script:Arabic", "script:Hiragana"}
    assert tally.report().count("script:Cyrillic") == 6


def test_traditional_characters_pass_through():
    assert said("繁體中文") == "繁體中文"


@pytest.mark.parametrize("text", ["", "   ", "😀🎉", "\x00\x07", "<br/>"])
def test_texts_without_speech_have_no_tokens(text):
    assert normalise(text) == []
