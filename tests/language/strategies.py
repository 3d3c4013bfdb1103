"""Hypothesis strategies: any program of the language, whether or not it has a value."""

from hypothesis import strategies as st

from kolmocli.language.program import PREDICATES, SIGNATURES, Alias, Call, Kind, Program, Ref

small = st.integers(-3, 40)
integers = st.one_of(small, st.integers(0, 255), st.integers(-(10**16), 10**16))


@st.composite
def programs(draw, ints=integers, max_statements=12):
    statements = []
    for count in range(draw(st.integers(1, max_statements))):
        initiators = [n for n, kinds in SIGNATURES.items() if Kind.REF not in kinds]
        names = ["alias", *SIGNATURES] if count else initiators
        name = draw(st.sampled_from(names))
        refs = st.integers(0, max(count - 1, 0)).map(Ref)
        if name == "alias":
            statements.append(Alias(draw(refs)))
            continue
        by_kind = {
            Kind.INT: ints,
            Kind.REF: refs,
            Kind.LIST: st.lists(ints, max_size=40).map(tuple),
            Kind.PREDICATE: st.sampled_from(PREDICATES),
        }
        statements.append(Call(name, tuple(draw(by_kind[k]) for k in SIGNATURES[name])))
    return Program(tuple(statements))
