"""More kinds of what is written, several formats of each, in both languages."""

from __future__ import annotations

import pytest

from edge_tts.text.normalise import normalise
from edge_tts.text.spoken import spoken_text
from edge_tts.text.tokens import TokenKind

ENGLISH = {
    "days of one month": (
        "Dec 24–26, March 3-5, 2026 and 7-9 May",
        "December twenty fourth to twenty sixth, March third to fifth twenty twenty six "
        "and May seventh to ninth",
    ),
    "days of two months": ("June 30–July 2", "June thirtieth to July second"),
    "dates in a range": ("open 5/1-5/7", "open May first to May seventh"),
    "amounts in a range": ("1/4-1/2 cup", "one quarter to one half cup"),
    "short year": ("from 3/1/24", "from March first twenty twenty four"),
    "year of an era": ("in c. 1450, 1200 BC", "in circa fourteen fifty, twelve hundred B C"),
    "weekday before a time": (
        "Sat 9am, Sun 10:00, the Sun",
        "Saturday nine A M, Sunday ten o'clock, the Sun",
    ),
    "half of the day first": ("at PM 3:20", "at three twenty P M"),
    "time of a race": (
        "ran the marathon in 2:01:09",
        "ran the marathon in two hours one minute nine seconds",
    ),
    "time of day": ("it starts at 10:30:15", "it starts at ten thirty and fifteen seconds"),
    "scores fall": (
        "Chelsea 2-1, 112–108 and 6-4",
        "Chelsea two to one, one hundred twelve to one hundred eight and six to four",
    ),
    "names and idioms are no scores": (
        "Boeing 747-8, 24-7",
        "Boeing seven forty seven eight, twenty four seven",
    ),
    "subtraction": ("7 - 2 = 5", "seven minus two equals five"),
    "arrow": ("50% -> 100%", "fifty percent to one hundred percent"),
    "rating": ("rated 8/10, 4/5 stars", "rated eight out of ten, four out of five stars"),
    "blood pressure": (
        "128/82 mmHg",
        "one hundred twenty eight over eighty two millimeters of mercury",
    ),
    "one in many": ("1/1000 of it", "one one thousandth of it"),
    "inch mark": (
        'a 65" TV, 2–4" of snow',
        "a sixty five inch T V, two to four inches of snow",
    ),
    "closing quotation mark": ('He said "go to 5" twice', 'He said "go to five" twice'),
    "feet by feet": ("12' x 15'", "twelve by fifteen feet"),
    "coordinates": (
        "40°42'46\"N, 122.4° W",
        "forty degrees forty two minutes forty six seconds north, "
        "one hundred twenty two point four degrees west",
    ),
    "angle": ("turn 90°", "turn ninety degrees"),
    "attribute": (
        "a 2.0L turbo, a 5–10 min delay, a $5 fee",
        "a two point zero liter turbo, a five to ten minute delay, a five dollar fee",
    ),
    "period of a unit": (
        "a 12 oz. coffee, 30 mi. west, $25/mo. for",
        "a twelve ounce coffee, thirty miles west, twenty five dollars per month for",
    ),
    "unit without a number": ("$3 per lb. in bulk", "three dollars per pound in bulk"),
    "unit ends a sentence": ("It is 5 mi. Then go", "It is five miles. Then go"),
    "chain of rates": ("5 mg/kg/day", "five milligrams per kilogram per day"),
    "medical units": (
        "72 bpm, 6.1 mmol/L, 110 mg/dL",
        "seventy two beats per minute, six point one millimoles per liter, "
        "one hundred ten milligrams per deciliter",
    ),
    "road with a letter": ("take Rte. 9W", "take route nine W"),
    "road toward a place": ("I-80 W/Reno", "I eighty west Reno"),
    "kilometer post": ("at km 45", "at kilometer forty five"),
    "code in groups": ("the OTP is 904 117", "the O T P is nine zero four, one one seven"),
    "postcode": (
        "Boston, MA 02118-1234.",
        "Boston, M A zero two one one eight, one two three four.",
    ),
    "small initials": ("twice b.i.d. with food", "twice B I D with food"),
    "abbreviation and number": ("fig.2, sec. 3", "figure two, sec. three"),
    "point in a name": ("the ID.4 car", "the I D four car"),
    "hardware address": (
        "MAC 00:1A:2B:3C:4D:5E",
        "M A C zero zero colon one A colon two B colon three C colon four D colon five E",
    ),
    "IP version 6": ("at fe80::1", "at F E eight zero colon colon one"),
    "cents in a range": (
        "$1.20–$1.30",
        "one dollar and twenty cents to one dollar and thirty cents",
    ),
    "no cents": ("CHF 2,500.00", "two thousand five hundred Swiss francs"),
    "world wars": ("WWI and WWII", "World War One and World War Two"),
    "list in a line": ("1) Stop. 2) Go on.", "Stop. Go on."),
    "list after a colon": ("Do: (1) stop, and (2) go", "Do: stop, and go"),
    "title before a name": (
        "Dr. O'Neill and Dr. J. Wu",
        "doctor O'Neill and doctor J Wu",
    ),
    "streets and offices": (
        "Serra Fwy, acct. 7731, para. 4",
        "Serra freeway, account seven seven three one, paragraph four",
    ),
    "weekday before a date": ("on Tues., 4/14", "on Tuesday, April fourteenth"),
    "half of the day": ("at 5 a.m or 6 p.m.", "at five A M or six P M."),
    "grades and blood types": (
        "a B- or A+; blood type O-",
        "a B minus or A plus; blood type O negative",
    ),
    "hyphened number": (
        "Rx #604-22913, 10-12 pizzas",
        "Rx number six zero four, two two nine one three, ten to twelve pizzas",
    ),
    "letters in a range": ("S–XXL, A–Z", "S to X X L, A to Z"),
    "decimal inches": (
        "12.5 x 8.3 x 0.6 in; a 13.6-in. display",
        "twelve point five by eight point three by zero point six inches; "
        "a thirteen point six inch display",
    ),
    "size in pixels": (
        "2560 × 1664",
        "two thousand five hundred sixty by one thousand six hundred sixty four",
    ),
    "product": (
        "20 × 30 = 600, 7 × 8",
        "twenty times thirty equals six hundred, seven times eight",
    ),
    "multiples": ("2x faster, 10× optical", "two times faster, ten times optical"),
    "letter for a scale": (
        "1.2m barrels, 5k people, 10k",
        "one point two million barrels, five thousand people, ten K",
    ),
    "meters": ("a 100 m pool", "a one hundred meter pool"),
    "file names": (
        "report.pdf, node.js",
        "report dot P D F, node dot J S",
    ),
    "missing space": ("The end.Next one", "The end. Next one"),
    "european cents": (
        "€2.500,00 and €1,25",
        "two thousand five hundred euros and one euro and twenty five cents",
    ),
    "list of phones": (
        "call 119, 120 or 110",
        "call one one nine, one two oh or one one oh",
    ),
    "number after a phone": ("call 911, 500 died", "call nine one one, five hundred died"),
    "list of rooms": ("rooms 202 and 203", "rooms two oh two and two oh three"),
    "tyre": ("225/55 R18", "two twenty five fifty five R eighteen"),
    "country codes": (
        "call +44 20 7946 0958 or +1 (415) 555-2671",
        "call plus four four, two oh, seven nine four six, oh nine five eight "
        "or plus one, four one five, five five five, two six seven one",
    ),
    "point first": ("use .NET now", "use dot net now"),
    "paths": ("/etc/hosts, etc.", "etc hosts, et cetera."),
    "and between quotes": ("rock 'n' roll", "rock and roll"),
    "table": ("| road | 8:00 |", "road, eight o'clock"),
    "breadcrumbs": ("Settings > About, x > y", "Settings, About, X greater than Y"),
    "codes in a range": ("A1-A5, pages P15-20", "A one to A five, pages P fifteen to twenty"),
    "exponents": (
        "10⁶, 10⁻¹², 5²",
        "ten to the power of six, ten to the power of minus twelve, five squared",
    ),
    "subscripts": ("H₂SO₄", "H two S O four"),
    "rhesus factor": ("type Rh-", "type Rh negative"),
    "timer": (
        "Timer: 00:10:00, 0:05:30 left, at 00:15:30",
        "Timer: ten minutes, five minutes thirty seconds left, "
        "at twelve fifteen and thirty seconds A M",
    ),
    "star in a menu": (
        "Press 1 for English, 2 for Spanish, or * to repeat",
        "Press one for English, two for Spanish, or star to repeat",
    ),
    "year over year": ("up 3% y/y", "up three percent year over year"),
    "no list": ("See 1) or 3)", "See one) or three)"),
}
CHINESE = {
    "decimals after the unit": (
        "9秒83，1米75，3米25厘米",
        "九秒八三, 一米七五, 三米二十五厘米",
    ),
    "series with a letter": ("歼-35A", "歼三十五 A"),
    "kilometer post in meters": ("K23+500m处", "K 二十三加五百处"),
    "plus in a name": ("按Pro+，按Ctrl+Alt", "按 Pro plus, 按 Ctrl 加 Alt"),
    "country codes": (
        "+86-10-12345678，+8613812345678",
        "加八六, 幺零, 幺二三四五六七八, 加八六, 幺三八, 幺二三四, 五六七八",
    ),
    "keycaps": ("1️⃣ 打开 2️⃣ 关闭", "打开; 关闭"),
    "table": ("| 北京 | 8:00 |", "北京, 八点"),
    "price of a time": ("5元/30分钟", "五元每三十分钟"),
    "times a minute": ("76次/min", "七十六次每分钟"),
    "discount": ("满199-20", "满一百九十九减二十"),
    "packs": ("500g*2袋", "五百克乘两袋"),
    "megapixels": ("50MP镜头", "五千万像素镜头"),
    "model after letters": ("RTX 4090显卡", "R T X 四零九零显卡"),
    "long code": ("i9-14900K处理器", "I 九一四九零零 K 处理器"),
    "4K is no temperature": ("1080P/4K屏", "一零八零 P 四 K 屏"),
    "plus after a code": ("HDR10+屏", "H D R 十 plus 屏"),
    "year in brackets": ("〔2026〕15号文件", "(二零二六) 十五号文件"),
    "years in a range": (
        "从1949到2026，1900-1999，1900-2000个",
        "从一九四九到二零二六, 一九零零到一九九九, 一千九百到两千个",
    ),
    "breadcrumbs": ("设置>通用，3>2", "设置, 通用, 三大于二"),
    "codes in a range": ("A1-A5区", "A 一到 A 五区"),
    "list without spaces": ("排名：1.海港 2.申花", "排名: 海港; 申花"),
    "timer": ("剩余00:10:00，还有00:00:30", "剩余十分钟, 还有三十秒"),
    "letter for a scale": ("1M用户，20K次", "一百万用户, 两万次"),
    "list of ordinals": ("第1、2车道，2车道", "第一, 二车道, 两车道"),
    "stock": ("银行（601398）涨", "银行(六零一三九八) 涨"),
    "zeros of a date": ("03月08日08时05分", "三月八日八时零五分"),
    "account": ("户号0012345678", "户号零零一二三四五六七八"),
    "masked number": (
        "卡号138****5678",
        "卡号一三八星号星号星号星号五六七八",
    ),
    "door numbers": ("A座1203，会议室202和203", "A 座一二零三, 会议室二零二和二零三"),
    "nearest word": ("客服工号1008", "客服工号一零零八"),
    "code with hyphens": ("取件码8-2-1003", "取件码八, 二, 一零零三"),
    "stamp of a day": ("构建20260308", "构建二零二六零三零八"),
    "keys": ("按#号键，按#键", "按井号键, 按井号键"),
    "price of an amount": ("5.98元/500g", "五点九八元每五百克"),
    "percent before letters": ("湿度35%RH", "湿度百分之三十五 R H"),
    "tyre": ("轮胎225/55 R18", "轮胎二二五五十五 R 十八"),
    "power of a product": ("9.6×10^6个", "九点六乘十的六次方个"),
    "relation": ("√2≈1.4，≈5个", "根号二约等于一点四, 约五个"),
    "chip": ("骁龙8295芯片", "骁龙八二九五芯片"),
    "list of phones": ("报警110、120", "报警幺幺零, 幺二零"),
    "multiples": ("2x变焦，10×光学", "两倍变焦, 十倍光学"),
    "date and weekday": ("9/8（周三）", "九月八日(周三)"),
    "dates in a range": ("3/5-3/8放假", "三月五日到三月八日放假"),
    "amounts in a range": ("1/4-1/2杯", "四分之一到二分之一杯"),
    "fraction": ("在1/4英里后，大于3/5", "在四分之一英里后, 大于五分之三"),
    "date by its size": ("12/5下雪", "十二月五日下雪"),
    "generations": ("80、90后", "八零, 九零后"),
    "years": ("2024、2025年", "二零二四, 二零二五年"),
    "events": (
        "5·12地震、3.15晚会、618大促",
        "五一二地震, 三一五晚会, 六一八大促",
    ),
    "half of the day first": ("PM3:20开始", "下午三点二十分开始"),
    "time of a race": ("马拉松2:01:09", "马拉松两小时一分九秒"),
    "countdown": ("倒计时01:12:45", "倒计时一小时十二分四十五秒"),
    "minutes and seconds": ("成绩3'20\"", "成绩三分二十秒"),
    "height": ("身高6'2\"", "身高六英尺两英寸"),
    "scores fall": ("盘分6-4、7-6", "盘分六比四, 七比六"),
    "addresses are no scores": ("3-1号", "三一号"),
    "blood pressure": ("血压128/82", "血压一百二十八比八十二"),
    "coordinates": ("北纬39°54′20″", "北纬三十九度五十四分二十秒"),
    "series and number": ("歼-20、长征-5号", "歼二十, 长征五号"),
    "negative": ("-1楼，得了-5分，余额-200元", "负一楼, 得了负五分, 余额负两百元"),
    "nights and rooms": ("1天2晚，2室1厅", "一天两晚, 两室一厅"),
    "labels in a list": ("301、302和303路", "三零一, 三零二和三零三路"),
    "number sign": ("No.1品牌，#8号口", "第一品牌, 八号口"),
    "acronyms that look like words": ("IT行业和WHO", "I T 行业和 W H O"),
    "letters among acronyms": ("A区的USB和GPS", "A 区的 U S B 和 G P S"),
    "no cents": ("8.00元，8.50元", "八元, 八点五零元"),
    "always open": ("24/7服务", "七乘二十四小时服务"),
    "one in many": ("1/10000的概率", "一万分之一的概率"),
    "medical units": ("血糖6.1mmol/L", "血糖六点一毫摩尔每升"),
    "list in a line": ("1. 打开车门 2. 系好安全带", "打开车门; 系好安全带"),
    "list in brackets": ("（1）开机；（2）登录", "开机; 登录"),
    "circled list": ("①选择语言②支付", "选择语言; 支付"),
    "circled name": ("①号线、②号口", "一号线, 二号口"),
    "enumeration": ("1、2、3号线", "一, 二, 三号线"),
}


@pytest.mark.parametrize("kind", ENGLISH)
def test_english(kind: str) -> None:
    written, spoken = ENGLISH[kind]
    assert spoken_text(normalise(written)) == spoken


@pytest.mark.parametrize("kind", CHINESE)
def test_chinese(kind: str) -> None:
    written, spoken = CHINESE[kind]
    assert spoken_text(normalise(written)) == spoken


@pytest.mark.parametrize("written", [row[0] for row in (*ENGLISH.values(), *CHINESE.values())])
def test_spans_lie_in_order_within_the_text(written: str) -> None:
    words = [token for token in normalise(written) if token.kind is TokenKind.WORD]
    assert all(0 <= word.span.start < word.span.end <= len(written) for word in words)
    assert [word.span.start for word in words] == sorted(word.span.start for word in words)
