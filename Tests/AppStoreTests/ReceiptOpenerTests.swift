import Crypto
import Events
import Foundation
import Testing
import X509

@testable import AppStore

struct ReceiptOpenerTests {
    private let authority: ReceiptForge.Authority
    private let opener: ReceiptOpener

    init() throws {
        authority = try ReceiptForge.Authority.sha256.get()
        opener = try authority.opener()
    }

    /// The reason why a receipt with this one difference from a valid one is refused.
    private func refusal(
        _ change: (inout ReceiptForge) throws -> Void
    ) throws -> Rejection.Code? {
        var forge = try ReceiptForge(authority)
        try change(&forge)
        return opener.refusal(try forge.message())
    }

    private func refusal(
        _ flaws: TestPKI.Flaws,
        content: [UInt8] = ReceiptForge.payload()
    ) throws -> Rejection.Code? {
        let pki = try TestPKI(flaws)
        var forge = try ReceiptForge(pki)
        forge.content = content
        return ReceiptOpener(roots: try pki.policy().roots).refusal(try forge.message())
    }

    @Test func `a flawless receipt opens`() throws {
        let message = try ReceiptForge(authority).message()
        let opened = try opener.open(message[...], receivedAt: receivedAt)
        #expect(opened.receipt == (try AppReceipt(content: ReceiptForge.payload()[...])))
        #expect(opened.root == Events.Digest.of(try authority.root.der))
        #expect(!opened.isLocal)
    }

    @Test func `a receipt opens in every form it may have`() throws {
        let forms: [(inout ReceiptForge) throws -> Void] = [
            { $0.isIndefinite = true },
            { $0.hasSignedAttributes = true },
            { $0.namesKeyIdentifier = true },
            { $0.digest = .sha1 },
            { $0.digest = .sha384 },
            { $0.digest = .sha512 },
            { $0.declaredSignature = "1.2.840.113549.1.1.11" },
            { $0.certificates.removeLast() },
            { $0.certificates.reverse() },
            { $0.content = der(4, $0.content) },
            {
                $0.hasSignedAttributes = true; $0.rearrangeAttributes = { $0.reversed() }
            },
            {
                $0.hasSignedAttributes = true; $0.digest = .sha1; $0.isIndefinite = true
            },
        ]
        for (number, form) in forms.enumerated() {
            #expect(try refusal(form) == nil, "form \(number)")
        }
        #expect(try refusal(TestPKI.Flaws()) == nil)
        let old = try ReceiptForge.Authority.sha1.get()
        var forge = try ReceiptForge(old)
        forge.digest = .sha1
        #expect(try old.opener().refusal(try forge.message()) == nil)
    }

    @Test func `base64 is accepted with line breaks, in either alphabet, padded or not`() throws {
        for length in 0..<3 {
            var forge = try ReceiptForge(authority)
            let filler = ReceiptForge.attribute(99, [UInt8](repeating: 0, count: length))
            forge.content = ReceiptForge.payload(extra: [filler])
            let data = Data(try forge.message())
            let text = data.base64EncodedString()
            let broken = data.base64EncodedString(options: .lineLength76Characters)
            let url = text.replacing("+", with: "-").replacing("/", with: "_")
            for form in [text, broken, " \n\(broken)\r\n", url, url.replacing("=", with: "")] {
                #expect(ReceiptEncoding.looksLikeReceipt(Array(form.utf8)[...]))
                #expect(opener.refusal(Array(form.utf8)) == nil, "\(length) bytes more")
            }
            #expect(opener.refusal(Array("\(text)!".utf8)) == .receiptMalformed)
        }
        #expect(opener.refusal(Array("bm90IGEgcmVjZWlwdA==".utf8)) == .receiptMalformed)
        #expect(opener.refusal(Array(" \n".utf8)) == .payloadEmpty)
    }

    @Test func `JSON, JWS and certificates in PEM do not look like receipts`() {
        for text in ["{\"a\":1}", "eyJhbGciOiJFUzI1NiJ9.e30.AAAA", "-----BEGIN", "", "0", "MIIx"] {
            #expect(!ReceiptEncoding.looksLikeReceipt(Array(text.utf8)[...]), "\(text)")
        }
    }

    @Test func `an iOS 6 property list is refused with what to do instead`() throws {
        let list = "{\n\t\"signature\" = \"AAAA\";\n\t\"purchase-info\" = \"ewo=\";\n}"
        let verifier = AppStoreVerifier(policy: VerificationPolicy())
        for text in [list, Data(list.utf8).base64EncodedString()] {
            #expect(opener.refusal(Array(text.utf8)) == .ios6Receipt)
            let rejection = try #require(verifier.rejection(Array(text.utf8)))
            #expect(rejection.code == .ios6Receipt)
            #expect(rejection.message.contains("transaction id"))
        }
    }

    @Test func `each fault in the message has its own reason`() throws {
        let cases: [(Rejection.Code, (inout ReceiptForge) throws -> Void)] = [
            (.receiptSignerCount, { $0.signerCount = 0 }),
            (.receiptSignerCount, { $0.signerCount = 2 }),
            (.receiptSignerMissing, { $0.certificates = [] }),
            (.receiptSignerMissing, { $0.certificates.removeFirst() }),
            (.receiptIssuerMissing, { $0.certificates.remove(at: 1) }),
            (.receiptContentMissing, { $0.hasContent = false }),
            (.receiptMalformed, { $0.contentType = "1.2.840.113549.1.7.3" }),
            (.receiptTooLarge, { $0.certificates += Array(repeating: [0x30, 0], count: 9) }),
            (.certificateMalformed, { $0.certificates.append([0x30, 0]) }),
            (.signatureInvalid, { $0.declaredDigest = "2.16.840.1.101.3.4.2.3" }),
            (.receiptAlgorithmUnsupported, { $0.declaredDigest = "1.2.840.113549.2.5" }),
            (.receiptAlgorithmUnsupported, { $0.declaredSignature = "1.2.840.113549.1.1.10" }),
            (.receiptAlgorithmMismatch, { $0.declaredSignature = "1.2.840.113549.1.1.5" }),
            (.receiptAlgorithmMismatch, { $0.declaredSignature = "1.2.840.10045.4.3.2" }),
        ]
        for (number, (code, change)) in cases.enumerated() {
            #expect(try refusal(change) == code, "case \(number)")
        }
    }

    @Test func `changing any byte of content or signature makes the receipt refused`() throws {
        for hasSignedAttributes in [false, true] {
            var forge = try ReceiptForge(authority)
            forge.hasSignedAttributes = hasSignedAttributes
            let message = try forge.message()
            let start = try #require(message.firstRange(of: forge.content)).lowerBound
            for offset in forge.content.indices {
                var altered = message
                altered[start + offset] ^= 1
                let code: Rejection.Code =
                    hasSignedAttributes ? .receiptDigestMismatch : .signatureInvalid
                #expect(opener.refusal(altered) == code, "byte \(offset)")
            }
            for offset in 1...256 {
                var altered = message
                altered[altered.count - offset] ^= 0x80
                #expect(opener.refusal(altered) == .signatureInvalid, "byte -\(offset)")
            }
        }
    }

    @Test func `the signed attributes must match this content and occur once each`() throws {
        let usual = try ReceiptForge(authority).usualAttributes()
        let other = try ReceiptForge.oid("1.2.840.113549.1.7.3")
        let type = try ReceiptForge.oid("1.2.840.113549.1.9.3")
        let digestType = try ReceiptForge.oid("1.2.840.113549.1.9.4")
        let wrong = der(0x30, digestType, der(0x31, der(4, [UInt8](repeating: 1, count: 32))))
        let double = der(0x30, type, der(0x31, other, other))
        let cases: [(Rejection.Code, [[UInt8]])] = [
            (.receiptSignedAttributes, []),
            (.receiptSignedAttributes, [usual[0]]),
            (.receiptSignedAttributes, [usual[1]]),
            (.receiptSignedAttributes, [usual[0], usual[0], usual[1]]),
            (.receiptSignedAttributes, [usual[0], usual[1], usual[1]]),
            (.receiptSignedAttributes, [der(0x30, type, der(0x31, other)), usual[1]]),
            (.receiptSignedAttributes, [double, usual[1]]),
            (.receiptSignedAttributes, [der(0x30, type, der(0x31)), usual[1]]),
            (.receiptDigestMismatch, [usual[0], wrong]),
            (.receiptMalformed, [usual[0] + usual[1], [5, 0]]),
        ]
        for (number, (code, attributes)) in cases.enumerated() {
            let found = try refusal {
                $0.hasSignedAttributes = true
                $0.attributes = attributes
            }
            #expect(found == code, "case \(number)")
        }
    }

    @Test func `attributes added after signing make the receipt refused`() throws {
        let time = try ReceiptForge.oid("1.2.840.113549.1.9.5")
        let added = der(0x30, time, der(0x31, der(0x17, Array("231114221321Z".utf8))))
        let found = try refusal {
            $0.hasSignedAttributes = true
            $0.rearrangeAttributes = { $0 + [added] }
        }
        #expect(found == .signatureInvalid)
        // A signature over the content alone does not fit attributes, nor the reverse.
        var forge = try ReceiptForge(authority)
        let attributes = try forge.usualAttributes()
        forge.content = der(0x31, attributes.flatMap { $0 })
        #expect(opener.refusal(try forge.message()) == .receiptMalformed)
    }

    @Test func `a signer who did not sign is detected`() throws {
        let stranger = try TestPKI()
        #expect(
            try refusal { $0.key = .p256(stranger.leafKey) } == .receiptAlgorithmMismatch
        )
        let old = try ReceiptForge.Authority.sha1.get()
        #expect(try refusal { $0.key = .rsa(old.leafKey) } == .signatureInvalid)
        #expect(
            try refusal { $0 = try ReceiptForge(old) } == .chainBroken,
            "the root has the same name and another key"
        )
        #expect(try refusal { $0 = try ReceiptForge(stranger) } == .chainUntrusted)
        #expect(
            try refusal {
                $0.certificates[1] = try old.intermediate.der
                $0.certificates[2] = try old.root.der
            } == .chainBroken
        )
    }

    @Test func `each flaw in a chain has the same reason as in a JWS`() throws {
        let cases: [(WritableKeyPath<TestPKI.Flaws, Bool>, Bool, Rejection.Code)] = [
            (\.hasLeafMarker, false, .leafOIDMissing),
            (\.hasIntermediateMarker, false, .intermediateOIDMissing),
            (\.intermediateIsCA, false, .issuerNotCA),
            (\.intermediateMayIssue, false, .issuerNotCA),
            (\.leafIsCA, true, .certificateUnacceptable),
            (\.leafMaySign, false, .certificateUnacceptable),
            (\.leafHasUnknownCriticalExtension, true, .certificateUnacceptable),
            (\.isLeafSignedWithEd25519, true, .certificateUnacceptable),
            (\.leafNamesOtherKey, true, .chainBroken),
            (\.isLeafSignedByStranger, true, .chainBroken),
            (\.leafIsOnP384, true, .leafKeyUnsupported),
        ]
        for (flaw, value, code) in cases {
            var flaws = TestPKI.Flaws()
            flaws[keyPath: flaw] = value
            #expect(try refusal(flaws) == code, "\(flaw)")
        }
    }

    @Test func `SHA-1 chains are accepted for receipts, and refused for a JWS`() throws {
        let old = try ReceiptForge.Authority.sha1.get()
        do throws(Rejection) {
            try CertificateRules.check(old.leaf, "leaf", isIssuedBy: old.intermediate)
            Issue.record("accepted")
        } catch {
            #expect(error.code == .certificateUnacceptable)
        }
    }

    @Test
    func `the chain is judged at the receipt's creation, or at its arrival if that is missing`()
        throws
    {
        var flaws = TestPKI.Flaws()
        flaws.leafNotAfter = "2023-11-14T22:13:21Z"
        #expect(try refusal(flaws) == nil)
        let later = ReceiptForge.payload(creationDate: "2023-11-14T22:13:22Z")
        #expect(try refusal(flaws, content: later) == .certificateExpired)
        flaws.leafNotBefore = "2023-11-14T22:13:21Z"
        #expect(try refusal(flaws) == nil)
        let earlier = ReceiptForge.payload(creationDate: "2023-11-14T22:13:20Z")
        #expect(try refusal(flaws, content: earlier) == .certificateExpired)
        let undated = ReceiptForge.payload(creationDate: "")
        #expect(try refusal(flaws, content: undated) == .certificateExpired)
        #expect(try refusal(TestPKI.Flaws(), content: undated) == nil)
    }

    @Test func `a chain is remembered per signer and certificates, once its signature is verified`()
        throws
    {
        let opener = try authority.opener()
        var forge = try ReceiptForge(authority)
        var altered = try forge.message()
        altered[altered.count - 1] ^= 1
        #expect(opener.refusal(altered) == .signatureInvalid)
        #expect(opener.cache.count == 0)
        #expect(opener.refusal(try forge.message()) == nil)
        forge.content = ReceiptForge.payload(creationDate: "2023-11-15T00:00:00Z")
        #expect(opener.refusal(try forge.message()) == nil)
        #expect(opener.cache.count == 1)
        #expect(opener.refusal(altered) == .signatureInvalid)
        forge.content = ReceiptForge.payload(creationDate: "2041-01-01T00:00:00Z")
        #expect(opener.refusal(try forge.message()) == .certificateExpired)
        forge = try ReceiptForge(authority)
        forge.certificates.removeLast()
        #expect(opener.refusal(try forge.message()) == nil)
        #expect(opener.cache.count == 2)
    }

    @Test func `a receipt signed by a root or directly below it counts only for Xcode`() throws {
        let pki = try TestPKI()
        let leaf = try RootCertificate(der: try pki.leaf.der)
        let local = ReceiptOpener(roots: [leaf])
        var forge = try ReceiptForge(pki)
        #expect(local.refusal(try forge.message()) == .xcodeSigned)
        forge.content = ReceiptForge.payload(type: "Xcode")
        let opened = try local.open(try forge.message()[...], receivedAt: receivedAt)
        #expect(opened.isLocal)
        #expect(opener.refusal(try forge.message()) == .xcodeSigned)
        let below = ReceiptOpener(roots: [try RootCertificate(der: try pki.intermediate.der)])
        #expect(try below.open(try forge.message()[...], receivedAt: receivedAt).isLocal)
    }

    @Test func `a receipt truncated anywhere or followed by anything is refused`() throws {
        for isIndefinite in [false, true] {
            var forge = try ReceiptForge(authority)
            forge.isIndefinite = isIndefinite
            forge.hasSignedAttributes = isIndefinite
            let message = try forge.message()
            for count in message.indices {
                #expect(opener.refusal(Array(message[..<count])) != nil, "cut at \(count)")
            }
            #expect(opener.refusal(message + [0]) == .receiptMalformed)
            #expect(opener.refusal(message + [0, 0]) == .receiptMalformed)
            #expect(opener.refusal(message) == nil)
        }
    }

    @Test func `size is limited, and declared lengths are not trusted`() {
        let tooLarge =
            [0x30, 0x80] + [UInt8](repeating: 0, count: ReceiptOpener.receiptByteCountMax)
        #expect(opener.refusal(tooLarge) == .payloadTooLarge)
        let text = [UInt8](repeating: 0x41, count: AppStoreVerifier.payloadByteCountMax + 1)
        #expect(opener.refusal(text) == .payloadTooLarge)
        #expect(opener.refusal([0x30, 0x84, 0xff, 0xff, 0xff, 0xff]) == .receiptMalformed)
        let deep = [[UInt8]](repeating: [0x30, 0x80], count: 100_000).flatMap { $0 }
        #expect(opener.refusal(deep) == .receiptTooDeep)
        let wide = [[UInt8]](repeating: [0x05, 0], count: BERReader.elementCountMax)
        #expect(opener.refusal(der(0x30, wide.flatMap { $0 })) == .receiptTooLarge)
    }
}
