import Crypto
import Events

/// A JWS in compact form (RFC 7515 §7.1): header, payload and signature, still base64url.
struct JWS {
    /// The protected header.
    let header: ArraySlice<UInt8>
    /// What was signed: `header.payload`, in ASCII.
    let signingInput: ArraySlice<UInt8>
    private let payloadSegment: ArraySlice<UInt8>
    private let signatureSegment: ArraySlice<UInt8>

    /// Longest JWS accepted, in bytes: a notification with its two nested JWS has thirty thousand.
    static let byteCountMax = 1 << 20

    /// Header, payload, signature.
    private static let segmentCount = 3

    /// Splits a compact form; decodes nothing yet.
    init(_ compact: ArraySlice<UInt8>) throws(Rejection) {
        guard compact.count <= JWS.byteCountMax else {
            throw Rejection(
                .payloadTooLarge,
                "A JWS has \(compact.count) bytes; at most \(JWS.byteCountMax) are accepted."
            )
        }
        let dots = JWS.dots(in: compact)
        guard dots.count == JWS.segmentCount - 1 else {
            throw Rejection(
                .jwsMalformed,
                "A JWS has three segments separated by dots; this text has \(dots.count + 1)."
            )
        }
        header = compact[..<dots[0]]
        payloadSegment = compact[(dots[0] + 1)..<dots[1]]
        signatureSegment = compact[(dots[1] + 1)...]
        signingInput = compact[..<dots[1]]
    }

    // Finds at most one dot too many: that is enough to refuse the text.
    private static func dots(in compact: ArraySlice<UInt8>) -> [Int] {
        compact.withUnsafeBytes { bytes in
            var dots: [Int] = []
            var position = 0
            while dots.count < segmentCount,
                let dot = ByteScan.firstIndex(of: UInt8(ascii: "."), in: bytes, from: position)
            {
                dots.append(compact.startIndex + dot)
                position = dot + 1
            }
            return dots
        }
    }

    /// The payload as JSON: claims that are not verified yet.
    ///
    /// Throws `jws-malformed` or one of the JSON reasons.
    func unverifiedClaims() throws(Rejection) -> JSON.Value {
        try JWS.object(payloadSegment, "payload")
    }

    /// The hash of the header and the dot after it, to be continued with the payload.
    var hashOfHeader: SHA256 {
        var hash = SHA256()
        signingInput[..<payloadSegment.startIndex].withUnsafeBytes {
            hash.update(bufferPointer: $0)
        }
        return hash
    }

    /// Checks the signature: ECDSA on P-256 with SHA-256, 64 raw bytes r‖s (RFC 7518 §3.4).
    ///
    /// `hashOfHeader` must be that of this header, which repeats in every payload of one leaf.
    func checkSignature(
        with key: P256.Signing.PublicKey,
        continuing hashOfHeader: SHA256
    ) throws(Rejection) {
        guard let raw = Base64.decodeURLUnpadded(signatureSegment) else {
            throw Rejection(.jwsMalformed, "The signature of a JWS is not base64url.")
        }
        let signature: P256.Signing.ECDSASignature
        do {
            signature = try P256.Signing.ECDSASignature(rawRepresentation: raw)
        } catch {
            throw Rejection(
                .signatureMalformed,
                "An ES256 signature is 64 raw bytes; this one has \(raw.count)."
            )
        }
        var hash = hashOfHeader
        payloadSegment.withUnsafeBytes { hash.update(bufferPointer: $0) }
        guard key.isValidSignature(signature, for: hash.finalize()) else {
            throw Rejection(
                .signatureInvalid,
                "The signature does not match the signed bytes: the payload was changed after it"
                    + " was signed. Fetch it again from Apple."
            )
        }
    }

    static func object(
        _ segment: ArraySlice<UInt8>,
        _ name: String
    ) throws(Rejection) -> JSON.Value {
        guard let bytes = Base64.decodeURLUnpadded(segment) else {
            throw Rejection(.jwsMalformed, "The \(name) of a JWS is not base64url.")
        }
        let json: JSON
        do {
            json = try JSON(bytes)
        } catch {
            throw Rejection(error, in: "The \(name) of a JWS")
        }
        guard json.root.kind == .object else {
            throw Rejection(.jwsMalformed, "The \(name) of a JWS is not a JSON object.")
        }
        return json.root
    }
}

/// The protected header of an App Store JWS: who claims to have signed it.
struct JWSHeader {
    /// The certificates of `x5c`, leaf first, as DER; at least one.
    let certificates: [[UInt8]]
    /// `kid`, which only Xcode still writes.
    let keyId: String?

    /// The key id in everything Xcode signs (Apple's data: environments).
    static let xcodeKeyId = "Apple_Xcode_Key"
    /// Most certificates that are decoded before the chain's length is judged.
    private static let certificateCountMax = 8

    /// Reads a header segment; refuses every algorithm except ES256.
    init(_ segment: ArraySlice<UInt8>) throws(Rejection) {
        let header = try JWS.object(segment, "header")
        guard let algorithm = header["alg"], algorithm.equals("ES256") else {
            let name = header["alg"]?.text.map { "\"\($0.prefix(16))\"" } ?? "no algorithm"
            throw Rejection(
                .algorithmNotES256,
                "A JWS of the App Store is signed with ES256, not \(name)."
            )
        }
        guard header["crit"] == nil else {
            throw Rejection(
                .jwsCriticalHeader,
                "The JWS requires unknown header extensions."
            )
        }

        let elements = header["x5c"]?.elements ?? []
        guard !elements.isEmpty else {
            throw Rejection(
                .x5cMissing,
                "The header of the JWS has no certificates in x5c; Apple sends three."
            )
        }
        guard elements.count <= JWSHeader.certificateCountMax else {
            throw Rejection(
                .chainLength,
                "The JWS has \(elements.count) certificates in x5c; three expected."
            )
        }

        var certificates: [[UInt8]] = []
        for element in elements {
            guard let text = element.utf8, let der = Base64.decodeStandard(text) else {
                throw Rejection(.certificateMalformed, "An element of x5c is not base64.")
            }
            certificates.append(der)
        }
        self.certificates = certificates
        keyId = header["kid"]?.text
    }
}

extension Rejection {
    /// The rejection for a text that is not JSON.
    init(_ failure: JSON.Failure, in place: String) {
        let code: Code =
            switch failure.reason {
            case .tooDeep: .jsonTooDeep
            case .tooLarge: .payloadTooLarge
            case .duplicateName: .jsonDuplicateName
            default: .jsonMalformed
            }
        self.init(
            code,
            "\(place) is not valid JSON: \(failure.reason.rawValue) at byte \(failure.offset)."
        )
    }
}

extension JSON {
    /// The claims of a JWS, without any verification; nil if the text is not one.
    ///
    /// For payloads of the log, which were verified on arrival.
    package static func unverifiedClaims(of compact: ArraySlice<UInt8>) -> Value? {
        do throws(Rejection) {
            return try JWS(compact).unverifiedClaims()
        } catch {
            return nil
        }
    }
}
