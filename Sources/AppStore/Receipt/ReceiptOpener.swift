import Events
import X509

/// Opens app receipts: checks the signature and everything that vouches for it
/// (Apple's data: app receipts).
struct ReceiptOpener: Sendable {
    /// What it trusts: these roots and no others.
    let roots: [RootCertificate]
    let cache = ChainCache<SigningChain>()

    /// Largest receipt, in bytes of BER: sixteen thousand purchases of five hundred bytes each.
    static let receiptByteCountMax = 8 << 20

    /// The receipt in some bytes, as PKCS #7 or as its base64.
    ///
    /// Reads nothing of the content before the signature is verified. The certificates are judged
    /// at the receipt's creation, or at `receivedAt` if it names no date. The receipt may be of any
    /// app and environment: the caller must check those.
    func open(
        _ receipt: ArraySlice<UInt8>,
        receivedAt: Instant
    ) throws(Rejection) -> OpenedReceipt {
        let message = try SignedData(try ReceiptEncoding.decoded(receipt))
        let signers = ReceiptOpener.key(ofSigners: message)
        let known = cache.chain(of: signers)
        let chain: SigningChain
        if let known { chain = known } else { chain = try judge(message) }
        try message.checkSignature(with: chain)
        let content = try AppReceipt(content: message.content)
        try chain.checkValidity(of: "app receipt", at: content.creationDate ?? receivedAt)
        if chain.isLocal, content.receiptType != AppReceipt.xcodeType {
            throw Rejection.xcodeSigned(
                "It claims to be a receipt of the App Store, which only Apple signs."
            )
        }
        if known == nil { cache.remember(chain, of: signers) }
        return OpenedReceipt(receipt: content, root: chain.root, isLocal: chain.isLocal)
    }

    /// The receipt of bytes whose signature was checked before, under that root.
    ///
    /// Checks neither signature nor chain; the caller must know that these exact bytes were
    /// verified. Xcode only signs receipts of its own type (`open` refuses others).
    func reopen(
        _ receipt: ArraySlice<UInt8>,
        verifiedUnder root: Events.Digest
    ) throws(Rejection) -> OpenedReceipt {
        let content = try AppReceipt(content: try SignedData(receipt).content)
        return OpenedReceipt(
            receipt: content,
            root: root,
            isLocal: content.receiptType == AppReceipt.xcodeType
        )
    }

    // Identifies the same certificates in the same order with the same signer. Each is DER and
    // contains its own length, so two different lists never have the same text.
    private static func key(ofSigners message: SignedData) -> ArraySlice<UInt8> {
        var text = Array(message.signer.identifierBytes)
        for certificate in message.certificates { text += certificate }
        return Events.Digest.of(text).bytes[...]
    }

    private func judge(_ message: SignedData) throws(Rejection) -> SigningChain {
        do throws(Rejection) {
            return try SigningChain(message, roots: roots)
        } catch {
            guard error.code == .chainUntrusted, ReceiptOpener.isOfXcode(message) else {
                throw error
            }
            throw Rejection.xcodeSigned("Its chain does not end at a given root.")
        }
    }

    // This content is not verified yet: it only decides between two refusals.
    private static func isOfXcode(_ message: SignedData) -> Bool {
        do throws(Rejection) {
            return try AppReceipt(content: message.content).receiptType == AppReceipt.xcodeType
        } catch {
            return false
        }
    }
}

extension SignedData {
    /// Refuses a message that was not signed, exactly as it is, by the holder of the chain's key.
    ///
    /// Throws `receipt-algorithm-mismatch`, `receipt-digest-mismatch` or `signature-invalid`.
    func checkSignature(with chain: SigningChain) throws(Rejection) {
        let kind = try chain.keyKindOfReceipt()
        let algorithm = try signer.algorithm.agreed(with: signer.digest, key: kind)
        var signed = content
        if let attributes = signer.attributes {
            guard signer.digest.digest(of: content)[...] == attributes.messageDigest else {
                throw Rejection(
                    .receiptDigestMismatch,
                    "The app receipt's content does not match the signed digest: it was changed"
                        + " after it was signed. Get it again from the device."
                )
            }
            signed = attributes.signedBytes[...]
        }

        guard
            chain.key.isValidSignature(
                signer.signature,
                for: signed,
                signatureAlgorithm: algorithm
            )
        else {
            throw Rejection(
                .signatureInvalid,
                "The signature does not match the app receipt: it was changed after it was signed."
                    + " Get it again from the device."
            )
        }
    }
}
