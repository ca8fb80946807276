from neurowhere.text.reading.document import Document, Name
from neurowhere.text.reading.scope import read_scope, iter_interesting
from neurowhere.text.reading.tags import find_cues, first_words
from neurowhere.text.clinical import mentions as old
from neurowhere.text.reading.sides import read_sides, side_of
from neurowhere.text.clinical.places import with_places
from neurowhere.text.clinical.implied import without_fixed
from neurowhere.text.clinical.ellipsis import with_halves

def document_of(reading):
    names=[Name(f,l+1,t,s) for f,l,t,s in zip(reading.first,reading.last,reading.terms,reading.is_structure)]
    return Document(reading.text, reading.tokens, reading.starts.tolist(), reading.ends.tolist(), names, reading.sided)

def read_mentions(text, counter, **k):
    m = counter.read(text)
    m = with_places(without_fixed(with_halves(m, counter.term_of, counter.vocabulary.index)))
    d = document_of(m)
    starts=list(iter_interesting(d, first_words()))
    said=read_scope(d, find_cues(d, starts)) if starts else None
    sides=read_sides(d,[i for i,w in enumerate(d.words) if side_of(w)])
    found=[];places=[]
    for n,name in enumerate(d.names):
        s,e=d.span(name.first,name.end)
        den=said and said.denied.get(n); hed=said and said.hedged.get(n)
        gen=counter.about[2][name.term]
        if gen: hed=None
        mm=old.Mention(counter.about[0][name.term] if name.term>=0 else text[s:e], s,e,negation_span=(d.span(den.first,den.end) if den else None),hedge_span=(d.span(hed.first,hed.end) if hed else None))
        at=sides.applied.get(n) or sides.limbs.get(n)
        if at: mm=mm._replace(side=at.side, side_span=d.span(at.first,at.end), side_inherited=at.is_inherited, dominant=at.dominant, is_crossed=n in sides.limbs)
        elif name.term>=0: mm=mm._replace(side=counter.about[1][name.term])
        mm=mm._replace(is_structure=name.is_structure, is_generic=gen)
        if name.term>=0: found.append(mm)
        elif at: places.append(mm)
    return old.Mentions(tuple(found),tuple(places),tuple(old.SideMark(m.side,*d.span(m.first,m.end)) for m in sides.unapplied))
