"""Small PDF files: lines of text on pages, one below the other."""

import io
from collections.abc import Sequence

from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject


def pdf_file(pages: Sequence[Sequence[str]], password: str | None = None) -> bytes:
    """Every page has its lines in Helvetica, which knows the letters of Latin-1."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
            NameObject("/Encoding"): NameObject("/WinAnsiEncoding"),
        }
    )
    for lines in pages:
        page = writer.add_blank_page(width=600, height=800)
        content = DecodedStreamObject()
        shown = b"".join(b"(%s) Tj T*\n" % _escaped(line) for line in lines)
        content.set_data(b"BT /F1 10 Tf 12 TL 50 750 Td\n" + shown + b"ET")
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        page[NameObject("/Contents")] = writer._add_object(content)
    if password is not None:
        writer.encrypt(password, algorithm="RC4-128")
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


def _escaped(line: str) -> bytes:
    for sign in ("\\", "(", ")"):
        line = line.replace(sign, f"\\{sign}")
    return line.encode("cp1252")
