"""Words that carry a value: where two facts differ in one of these, the newer is a correction, not a repeat.

English, with the German negations that turn a sentence round. Plurals and possessives are found by their
singular. To err on the side of listing costs a revision where a repeat would do; history keeps both.
"""

_NUMBERS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million
billion trillion dozen half quarter couple pair once twice thrice single double triple first second third
fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth
seventeenth eighteenth nineteenth twentieth thirtieth hundredth thousandth
"""
_NEGATIONS = """
no not never none nothing nobody nowhere neither nor without cannot cant dont doesnt didnt isnt arent wasnt
werent wont wouldnt shouldnt couldnt mustnt hasnt havent hadnt off false disabled denied forbidden
nicht nie niemals kein keine keinen keinem keiner keines ohne
"""
_WEEKDAYS = """
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
weekday weekend
"""
_MONTHS = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
"""
_UNITS = """
nanosecond microsecond millisecond sec minute min hour hr day week fortnight month year decade century
hourly daily nightly weekly monthly quarterly yearly annually today tomorrow yesterday tonight morning noon
afternoon evening midnight am pm utc gmt
bit byte kilobyte megabyte gigabyte terabyte kb mb gb tb pb kib mib gib tib kbit mbit gbit kbps mbps gbps
ms us ns mm cm km metre meter mile yard foot feet inch inches kg mg gram kilogram ton tonne pound lb ounce oz
litre liter ml celsius fahrenheit kelvin degree percent dollar euro cent usd eur gbp chf
watt kw kwh volt amp ampere hertz hz khz mhz ghz pixel px rpm
"""

VALUE_WORDS = frozenset(" ".join((_NUMBERS, _NEGATIONS, _WEEKDAYS, _MONTHS, _UNITS)).split())
