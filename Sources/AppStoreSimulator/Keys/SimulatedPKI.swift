internal import Crypto
internal import FoundationEssentials
internal import SwiftASN1
internal import X509

/// The certificates and keys of a simulated App Store: root, intermediate and leaf.
///
/// Everything follows from the seed, including the signatures. The chain has the shape of Apple's
/// (Apple's data: JWS verification): the intermediate is a CA marked 1.2.840.113635.100.6.2.1, the
/// leaf is marked 1.2.840.113635.100.6.11.1, and a JWS carries leaf, intermediate and root. All
/// three are valid from 2008 to the end of 2099, which covers every plausible `signedDate`. All
/// keys are P-256; Apple's root and intermediate are P-384. App receipts have a separate chain
/// below the same root (`receipts`), so one trust anchor is enough for everything simulated.
package struct SimulatedPKI: Sendable {
    /// Deliberate faults of a chain, to check that verifiers refuse it.
    ///
    /// The root of a seed is the same with and without flaws, so only the flaw can be the reason
    /// for a refusal.
    package struct Flaws: OptionSet, Hashable, Sendable {
        /// One bit per flaw.
        package let rawValue: Int

        /// The flaws of those bits.
        package init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The leaf lacks the marker of receipt and JWS signing.
        package static let leafWithoutMarker = Flaws(rawValue: 1)
        /// The intermediate lacks the marker of Apple's developer relations authority.
        package static let intermediateWithoutMarker = Flaws(rawValue: 2)
        /// The leaf was valid only in 2008, before anything was signed with it.
        package static let expiredLeaf = Flaws(rawValue: 4)
        /// The header or the receipt omits the root: leaf and intermediate only.
        package static let twoCertificates = Flaws(rawValue: 8)
        /// The intermediate is not allowed to issue certificates.
        package static let intermediateWithoutAuthority = Flaws(rawValue: 16)
        /// A JWS has neither header nor signature, only its payload between two dots: cheap enough
        /// for hundreds of thousands of lives, and useless to a verifier.
        package static let unsigned = Flaws(rawValue: 32)
    }

    /// The trust anchor in DER, for verifiers.
    package let rootDER: [UInt8]
    /// The certificates of the `x5c` header in DER, the leaf first.
    package let chainDER: [[UInt8]]
    /// The deliberate faults of the chain.
    package let flaws: Flaws
    /// Signs app receipts under the same root.
    package let receipts: ReceiptPKI

    /// The key of the leaf certificate, with which every JWS is signed: X9.63, uncompressed.
    package var leafPublicKey: [UInt8] { Array(leafKey.privateKey.publicKey.x963Representation) }

    private let leafKey: DeterministicSigningKey
    private let header: [UInt8]
    // The header is the same in every JWS and longer than most payloads, so it is hashed once.
    private let hashOfHeader: SHA256

    /// The keys and certificates of a seed.
    package init(seed: UInt64, flaws: Flaws = []) {
        var generator = SeededGenerator(seed: seed, branch: Self.branch)
        let rootKey = DeterministicSigningKey(from: &generator)
        let intermediateKey = DeterministicSigningKey(from: &generator)
        leafKey = DeterministicSigningKey(from: &generator)
        let issuer = CertificateIssuer(serialNumbers: generator)

        let chain: [[UInt8]]
        do {
            chain =
                try issuer.leafAndIntermediate(
                    of: Self.authority,
                    root: rootKey,
                    intermediate: intermediateKey,
                    leaf: leafKey.publicKey,
                    flaws: flaws
                ) + [issuer.root(rootKey)]
            receipts = try ReceiptPKI(
                seed: seed,
                root: rootKey,
                rootDER: chain[2],
                flaws: flaws
            )
        } catch {
            preconditionFailure("the certificates of seed \(seed) could not be made: \(error)")
        }

        rootDER = chain[2]
        chainDER = flaws.contains(.twoCertificates) ? Array(chain.prefix(2)) : chain
        self.flaws = flaws
        let certificates = chainDER.map { "\"" + Data($0).base64EncodedString() + "\"" }
        let json = #"{"alg":"ES256","x5c":["# + certificates.joined(separator: ",") + "]}"
        header = base64URL(Array(json.utf8)) + [UInt8(ascii: ".")]
        var hash = SHA256()
        hash.update(data: header)
        hashOfHeader = hash
    }

    /// A compact JWS over a JSON payload, as ASCII bytes.
    ///
    /// The same payload always gives the same bytes. With the flaw `unsigned`, only the payload is
    /// included.
    package func sign(payloadJSON: [UInt8]) -> [UInt8] {
        let payload = base64URL(payloadJSON)
        if flaws.contains(.unsigned) {
            let dot = [UInt8(ascii: ".")]
            return dot + payload + dot
        }
        var hash = hashOfHeader
        hash.update(data: payload)
        let signature = base64URL(leafKey.signature(for: hash.finalize()))
        var compact = header
        compact.reserveCapacity(header.count + payload.count + 1 + signature.count)
        compact.append(contentsOf: payload)
        compact.append(UInt8(ascii: "."))
        compact.append(contentsOf: signature)
        return compact
    }

    private static let authority = CertificateIssuer.Authority(
        intermediateName: "Subledger Simulated Developer Relations CA",
        leafName: "Subledger Simulated App Store and Receipt Signing"
    )

    // An arbitrary number that keeps the keys apart from the lives of the same seed, whose branches
    // are their indices.
    private static let branch: UInt64 = 0x504b_4900_0000_0000
}

private func base64URL(_ bytes: [UInt8]) -> [UInt8] {
    Array(
        Data(bytes).base64EncodedData(options: [.base64URLAlphabet, .omitPaddingCharacter])
    )
}
