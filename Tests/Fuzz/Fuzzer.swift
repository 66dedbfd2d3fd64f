import AppStore
import AppStoreSimulator
import EventLog
import Events
import Foundation

/// Creates the cases of a seed and checks the decoders' promises.
///
/// A case depends only on seed, decoder and number, so that a crash can be reproduced.
package struct Fuzzer: Sendable {
    package let seed: UInt64
    let corpus: FuzzCorpus

    /// A fuzzer; throws the verifier's error if it refuses a genuine payload.
    package init(seed: UInt64) throws {
        self.seed = seed
        corpus = try FuzzCorpus(seed: seed)
    }

    /// Writes the genuine payloads into a folder, for a fuzzer that makes its own mutations.
    func writeCorpus(to folder: URL) throws {
        for (number, payload) in (corpus.signed + corpus.unsigned + corpus.receipts).enumerated() {
            try Data(payload).write(to: folder.appendingPathComponent("genuine-\(number)"))
        }
    }

    /// The decoder of a case in a run over all of them.
    package func decoder(ofCase number: UInt64) -> Decoder {
        var generator = SeededGenerator(seed: ~seed, branch: number)
        var rest = Int(generator.integer(in: 0...999))
        for decoder in Decoder.allCases {
            rest -= decoder.share
            if rest < 0 { return decoder }
        }
        return .content
    }

    /// Runs one case; throws the failure it finds.
    package func run(_ decoder: Decoder, _ number: UInt64) throws(Finding) {
        var mutator = Mutator(
            generator: SeededGenerator(seed: seed, branch: number),
            corpus: corpus,
            isSigning: decoder == .resigned || decoder == .resignedReceipt
        )
        switch decoder {
        case .json: try runJSON(&mutator)
        case .splitter: try runSplitter(&mutator)
        case .signed, .receipt:
            let genuine = decoder == .signed ? corpus.signed : corpus.receipts
            let payload = mutator.mutated(mutator.element(of: genuine))
            try expectProven(outcome(of: payload, by: corpus.verifier, &mutator), payload)
        case .resigned:
            let payload = mutator.mutated(mutator.element(of: corpus.signed))
            try expectSound(outcome(of: payload, by: corpus.verifier, &mutator), payload)
        case .resignedReceipt:
            let payload = mutator.mutated(mutator.element(of: corpus.receipts))
            try expectSound(outcome(of: payload, by: corpus.verifier, &mutator), payload)
        case .unproven:
            let payload = mutator.mutated(mutator.element(of: corpus.unsigned))
            try expectProven(outcome(of: payload, by: corpus.strictVerifier, &mutator), payload)
        case .vouched: try runVouched(&mutator)
        case .packing: try runPacking(&mutator)
        case .content: try runContent(&mutator)
        }
    }

    /// The result of a payload; now and then it is verified twice and must give the same result.
    func outcome(
        of payload: [UInt8],
        by verifier: AppStoreVerifier,
        voucher: Voucher = .unvouched,
        _ mutator: inout Mutator
    ) throws(Finding) -> VerifiedPayload? {
        let first = Fuzzer.outcome(of: payload, by: verifier, voucher)
        if mutator.number(8) == 0 {
            let second = Fuzzer.outcome(of: payload, by: verifier, voucher)
            guard Fuzzer.isSame(first, second) else {
                throw Finding(message: "two answers to one payload", input: payload)
            }
        }
        switch first {
        case .success(let verified):
            if mutator.number(8) == 0 { try expectEvident(verified, verifier, payload) }
            return verified
        case .failure: return nil
        }
    }

    // Each unit of evidence gives the same facts again from its bytes and its context, and without
    // the secret that was blanked in it.
    private func expectEvident(
        _ verified: VerifiedPayload,
        _ verifier: AppStoreVerifier,
        _ payload: [UInt8]
    ) throws(Finding) {
        for group in verified.groups {
            let evidence = group.evidence
            let again = Fuzzer.outcome(
                of: evidence.payload,
                by: verifier,
                evidence.verification.trust == .signed ? .unvouched : .operator,
                evidence.context
            )
            guard case .success(let stored) = again,
                let same = stored.groups.first(where: { $0.evidence.digest == evidence.digest }),
                same.value == group.value, same.evidence.context == evidence.context
            else {
                throw Finding(message: "evidence that does not say what it proved", input: payload)
            }
        }
    }

    private static func outcome(
        of payload: [UInt8],
        by verifier: AppStoreVerifier,
        _ voucher: Voucher,
        _ context: EvidenceContext? = nil
    ) -> Result<VerifiedPayload, Rejection> {
        Result { () throws(Rejection) in
            try verifier.fuzzed(payload, voucher: voucher, context: context)
        }
    }

    private static func isSame(
        _ left: Result<VerifiedPayload, Rejection>,
        _ right: Result<VerifiedPayload, Rejection>
    ) -> Bool {
        switch (left, right) {
        case (.success(let left), .success(let right)):
            left.facts == right.facts && left.notices == right.notices
                && left.groups.map(\.evidence) == right.groups.map(\.evidence)
        case (.failure(let left), .failure(let right)):
            left.code == right.code && left.message == right.message
        default: false
        }
    }
}

extension Fuzzer {
    /// Only facts that the store signed may result.
    private func expectProven(
        _ verified: VerifiedPayload?,
        _ payload: [UInt8]
    ) throws(Finding) {
        for fact in verified?.facts ?? [] where !corpus.proven.contains(fact) {
            throw Finding(message: "a fact that nobody signed: \(fact)", input: payload)
        }
    }

    /// Every result keeps the limits that the ledger relies on.
    func expectSound(_ verified: VerifiedPayload?, _ payload: [UInt8]) throws(Finding) {
        for fact in verified?.facts ?? [] {
            if let fault = Fuzzer.fault(of: fact) {
                throw Finding(message: "\(fault): \(fact)", input: payload)
            }
        }
    }

    private static func fault(of fact: Fact) -> String? {
        let bytes = fact.content.canonicalBytes
        guard bytes.count <= Content.byteCountMax else { return "content of \(bytes.count) bytes" }
        guard Content(canonicalBytes: bytes) == fact.content else {
            return "content that does not come back from its canonical bytes"
        }
        let epoch = Instant(milliseconds: 0)
        for instant in [fact.purchaseDate, fact.expiresDate] where instant != epoch {
            guard instant.isPlausible || instant.milliseconds > 1_199_145_599_000 else {
                return "a date that no store can have issued"
            }
        }
        guard fact.asOf.isPlausible else { return "an as-of that no store can have issued" }
        let ids = [fact.stream.originalTransactionId, fact.stream.environment.word]
        guard ids.allSatisfy({ isId($0, byteCountMax: StreamID.idByteCountMax) }) else {
            return "an id out of its limits"
        }
        guard isId(fact.bundleId, byteCountMax: 255) else { return "a bundle id out of its limits" }
        return nil
    }

    private static func isId(_ text: String, byteCountMax: Int) -> Bool {
        text.utf8.count <= byteCountMax && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    private func runVouched(_ mutator: inout Mutator) throws(Finding) {
        let payload = mutator.mutated(mutator.element(of: corpus.unsigned))
        let voucher: Voucher = mutator.number(3) == 0 ? .unvouched : .operator
        let verified = try outcome(of: payload, by: corpus.verifier, voucher: voucher, &mutator)
        try expectSound(verified, payload)
        if let verified { try expectEvident(verified, corpus.verifier, payload) }
    }

    private func runPacking(_ mutator: inout Mutator) throws(Finding) {
        let genuine = [corpus.signed, corpus.unsigned, corpus.receipts]
        let payload = mutator.mutated(mutator.element(of: mutator.element(of: genuine)))
        let packed = EvidencePacking.pack(payload, dictionary: corpus.dictionary)
        let segments = Dictionary(
            packed.segments.map { ($0.key, $0.body) },
            uniquingKeysWith: { first, _ in first }
        )
        func unpack(_ body: [UInt8]) -> [UInt8]? {
            EvidencePacking.unpack(
                body,
                byteCountMax: payload.count,
                dictionaries: { $0 == corpus.dictionary?.number ? corpus.dictionary?.bytes : nil },
                segment: { segments[$0] }
            )
        }
        guard unpack(packed.body) == payload else {
            throw Finding(message: "a payload that does not come back", input: payload)
        }
        let damaged = mutator.changedBytes(packed.body)
        guard unpack(damaged)?.count ?? 0 <= payload.count else {
            throw Finding(message: "unpacked to more than allowed", input: damaged)
        }
    }

    private func runContent(_ mutator: inout Mutator) throws(Finding) {
        let bytes = mutator.changedBytes(mutator.element(of: corpus.contents))
        guard let content = Content(canonicalBytes: bytes) else { return }
        guard content.canonicalBytes == bytes else {
            throw Finding(message: "one content in two canonical forms", input: bytes)
        }
    }
}
