import Events
import Foundation
import Testing

@testable import AppStore

struct RejectionTests {
    @Test func `a test without real data provokes every reason`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        var tests = ""
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where file.hasSuffix("Tests.swift") && !file.hasPrefix("Real") {
            tests += try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        }
        // The callers read files and stored rejections, so the command line's tests provoke these.
        for code in Rejection.Code.allCases where ![.unreadable, .bodyNotKept].contains(code) {
            let isProvoked = tests.contains(".\(code)")
            #expect(isProvoked, "nothing provokes \(code.rawValue)")
        }
    }

    @Test func `a certificate and a chain of an x5c are called that, in every encoding`() throws {
        let header = LogSamples.jws.prefix { $0 != "." }
        let decoded = try #require(Base64.decodeURLUnpadded(Array(header.utf8)[...]))
        let chain = try JSON(decoded).root["x5c"]?.elements.compactMap(\.text) ?? []
        #expect(chain.count == 3)
        for text in chain {
            let der = try #require(ReceiptEncoding.base64Decoded(Array(text.utf8)[...]))
            let broken = LogSamples.broken(text)
            for payload in [
                der, Array(text.utf8), Array(broken.utf8),
                Array("-----BEGIN CERTIFICATE-----\n\(broken)\n-----END CERTIFICATE-----\n".utf8),
            ] {
                let message = Self.refusal(payload)
                #expect(
                    message?.hasPrefix("The payload is a certificate") == true,
                    "\(message ?? "")"
                )
                #expect(message?.contains("whole JWS") == true)
            }
        }
        let object = Self.refusal(decoded)
        #expect(object?.hasPrefix("The payload is a certificate") == true, "\(object ?? "")")
    }

    @Test func `a damaged receipt is never called a certificate`() throws {
        let receipt = LogSamples.receiptBytes
        for place in 0..<40 {
            for value in [UInt8(0), 0x30, 0xa0, 0xff] {
                var damaged = receipt
                damaged[place] = value
                for payload in [damaged, Array(LogSamples.base64(damaged).utf8)] {
                    #expect(
                        Self.refusal(payload)?.contains("certificate, such as") != true,
                        "byte \(place)"
                    )
                }
            }
        }
        let cut = Self.refusal(Array(receipt.prefix(receipt.count / 2)))
        #expect(cut?.contains("app receipt") == true, "\(cut ?? "")")
    }

    // The message with which a payload is refused; nil if it is not.
    private static func refusal(_ payload: [UInt8]) -> String? {
        let verifier = AppStoreVerifier(policy: VerificationPolicy(roots: []))
        do {
            _ = try verifier.verify(payload: payload, source: "test", receivedAt: receivedAt)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `reason codes are lower case and unique`() {
        let words = Rejection.Code.allCases.map(\.rawValue)
        #expect(Set(words).count == words.count)
        for word in words {
            #expect(
                word.utf8.allSatisfy {
                    (97...122).contains($0) || (48...57).contains($0) || $0 == 45
                }
            )
        }
    }
}
