internal import FoundationEssentials
internal import _CryptoExtras

/// The one RSA key that signs every simulated app receipt, of every seed.
///
/// This private key is public and worthless: it was made for this file, and only a verifier that
/// was given a simulated root trusts what it signs. It is fixed because swift-crypto cannot derive
/// an RSA key from a seed, and the same seed must give the same bytes. The certificates around it
/// are derived from the seed.
enum ReceiptSigningKey {
    /// 2048 bits; PKCS#1 v1.5 signatures with it are deterministic.
    static let key: _RSA.Signing.PrivateKey = {
        do {
            guard let der = Data(base64Encoded: derBase64) else { throw NotBase64() }
            return try _RSA.Signing.PrivateKey(derRepresentation: der)
        } catch {
            preconditionFailure("the RSA key in this file is invalid: \(error)")
        }
    }()

    private struct NotBase64: Error {}

    // PKCS#1 (RFC 8017 §A.1.2). For simulation only: never sign anything real with it.
    private static let derBase64 = """
        MIIEowIBAAKCAQEAqUY4FnG54QUaaz6YD0Qr9cXTq7Ubpgz/yIjN6/rTRTFUz9M68K2HjA6OJxgiWU2FH5PtEvsw\
        0nguXQjcfmP68ddhPDzORns5a3PASO9HIv6ZMQFTqBWvZ91tdNRn83KEbBI9Uqf/SndZ/4pAmtUJjWYDTPqPFcRJ\
        rgDtzTfv0XMsOgRo8zedjSbmTxDPw71RvOJRAcNs1+pKarpMqgWRikyIGMSrsqb8+qERGOUq3yIHtxsb+8+lLRl6\
        n7/S14zyLkTn8aGO8OMH/+Jp43+745bkBMqqvr/ZR950Mg7E/amVdyW/0O68QYXju74gBl1ugVEdCLnpD4fEETYD\
        bjFdQwIDAQABAoIBAEGIFTOfMHpMKvekwmJ6nlgmD3WUhhEpTCa6y5mVP5A0cmSInnNJgsW2ZtL8tWOELsrUTj4A\
        b9yzOSO8R/xIQYC5xIN4+NRxZP/TzneN5qjGDtFZdaUHTCI2J2dIybuGNHzQLNxgfGU8QmO7BprKacnLWfDFuXoQ\
        RQPviSBfDOE1B5VGPuYvww8isPBpeS1uPk8G242NVSAypkP6U73R20iP7E99jkKMUE1/mc6fP9YqCuL6gr6l6VTR\
        cIRzk9OgsqOzFtVZOQZ1fCsE2Mr7WxwDA4+VZqQety1dxs9zO5niy+ikLIxA8ojUS/8TuN1Ku9+/TCrHQCGTlKxC\
        EfY1TqECgYEA0cvdXWfRlW5XpIzWEpY5Joqp/FD3gVGy/IX41cJRQDDMK+y3PeCdH1TZlKoazxPoMPMi3aWJx8o6\
        +Uob/CXDEgJbmduPEBVfpx8JpJ1XsfLvko1pKn7ImQwpO0gHuo10OKxfxy4hb+x1UR5RAiyEjT6UO6UaO217Tgis\
        3RUD4CMCgYEAzo3Bnjgp/QMhSc890MdZpEoQ9BwFDujqC4erPnMgurnat8P2+JU+w7PvwzPEoLmYQt7GZXbz+qZt\
        8nsEhhuu+6NBGStlo5AzbGqPkbC548aWPXTt6sPwsw/2gNQsB8nZfpl2XSDuzJ/niHxdK3uE7c7RADk/DoZJ7V12\
        GkM/0GECgYEAgZ9gClIW4Cjo5bZOnfVLIlESbd7ozXHZEMUF1azV3r9Hpuv+27Bn4+/c70mafs9h6ryOkjuxQUvl\
        3Bi56bS7LelfB1Tss5dBHlTC9H5yrHPZKcdNbwAemNE2uHXssIqtgEagdsQ9zJVgdtowWxN+YnaDx8ZeytD+Glyp\
        0X8mgdkCgYAiRl2ZnqJBDNLqR4xvZ5UVcQDtMPUZ60ZjEWk2HK6SraKAmfESgNmAagxgLOf077c3aXYsghesQQ+/\
        i/BNPKzFrupvfccI5DXUSL54I4ZFKL/nhM6yBT+cxwpViF+iDzmbC2YbwApAREyMVm6zd3SwbYA69ETlaR09WSPu\
        6bfeIQKBgAOn8AJ/2qOI4MNLSltoxy/u+jTG44Aiqf6o8EyJ6Sc0VjU6W3APnGMCleMEcUvK9CPK17hFEwZJlo+2\
        pHd4GIWlf+onz29B6A1w7xwOHh3fwStyRv25U5d8pe7Auwo7PdCdGkjYn/u9CKowXM825qSbUOYtHd7KwaHQhZn2\
        Opvv
        """
}
