"""QR codes, with which a phone reads a secret from a screen."""

import io

import segno


def qr_svg(text: str) -> str:
    """Return the QR code of a text as an SVG document without a fixed size.

    About 4 kB for the `otpauth` URI of a usual e-mail address.
    """
    out = io.BytesIO()
    segno.make(text, micro=False, error="m").save(
        out, kind="svg", xmldecl=False, omitsize=True, border=4, light="#fff"
    )
    return out.getvalue().decode().strip()
