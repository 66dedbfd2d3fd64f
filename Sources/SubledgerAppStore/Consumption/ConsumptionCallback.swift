internal import AppStore
internal import AsyncHTTPClient
internal import Events
internal import Foundation
internal import NIOHTTP1

/// The address of an app's server that is asked for a customer's consent.
struct CallbackAddress: Hashable, Sendable {
    let url: String
    /// For messages: the path may be a secret.
    let host: String

    /// Nil unless it is `https://…`, or `http://…` on this machine.
    init?(_ text: String) {
        guard let url = URL(string: text), let host = url.host, !host.isEmpty, url.user == nil,
            url.fragment == nil,
            url.scheme == "https" || url.scheme == "http" && ServerHosts.local.contains(host)
        else { return nil }
        (self.url, self.host) = (text, host)
    }
}

/// Asks an app whether a customer consents.
struct ConsumptionCallback: Sendable {
    private let transport: Transport

    /// The most bytes of an answer, and the most seconds until its end.
    private static let limits: ServerLimits = {
        var limits = ServerLimits()
        limits.answerByteCountMax = 64 << 10
        limits.answerSecondsMax = 10
        limits.connectSecondsMax = 10
        limits.silenceSecondsMax = 10
        return limits
    }()

    init(seconds: Double?, clock: @escaping @Sendable () -> Instant) {
        var limits = ConsumptionCallback.limits
        if let seconds { limits.answerSecondsMax = seconds }
        transport = Transport(limits: limits, insists: false, clock: clock)
    }

    func close() async throws { try await transport.close() }

    /// Why the app did not answer; safe to log.
    struct Fault: Error {
        let message: String
    }

    private struct Question: Encodable {
        let request: ConsumptionFacts
        let proposal: ConsumptionProposal

        func encode(to encoder: any Encoder) throws {
            try request.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(proposal, forKey: .proposal)
        }

        private enum Key: String, CodingKey { case proposal }
    }

    /// Asks about a purchase.
    ///
    /// - Returns: What to send; nil if the customer does not consent.
    /// - Throws: `Fault`; `CancellationError`.
    func answer(
        at address: CallbackAddress,
        about facts: ConsumptionFacts,
        _ proposal: ConsumptionProposal
    ) async throws -> ConsumptionProposal? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try encoder.encode(Question(request: facts, proposal: proposal))
        var request = HTTPClientRequest(url: address.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "User-Agent", value: "subledger")
        request.body = .bytes(body)
        let reply: Transport.Reply
        do {
            reply = try await transport.send(request)
        } catch let fault as Transport.Fault {
            throw Fault(message: "the app at \(address.host) \(ConsumptionCallback.words(fault))")
        }
        guard reply.status == 200 else {
            throw Fault(
                message: "the app at \(address.host) answered with HTTP status \(reply.status); "
                    + "expected 200"
            )
        }
        do throws(ConsumptionPolicyError) {
            return try ConsumptionCallback.answer(reply.body, completing: proposal)
        } catch {
            throw Fault(
                message: "the answer of the app at \(address.host) was not accepted: \(error)"
            )
        }
    }

    private static func words(_ fault: Transport.Fault) -> String {
        switch fault {
        case .timedOut: "did not answer within \(Int(limits.answerSecondsMax)) s"
        case .tooLarge: "answered with more than \(limits.answerByteCountMax >> 10) KiB"
        case .unavailable(let reason): "cannot be reached: \(reason)"
        }
    }

    // Nil without consent.
    private static func answer(
        _ bytes: [UInt8],
        completing proposal: ConsumptionProposal
    ) throws(ConsumptionPolicyError) -> ConsumptionProposal? {
        let object = try StrictObject(
            bytes,
            members: [
                "customerConsented", "deliveryStatus", "sampleContentProvided",
                "consumptionPercentage", "refundPreference",
            ]
        )
        let consented = try object.value("customerConsented", "true or false", \.boolean)
        guard let consented else {
            throw ConsumptionPolicyError(
                "member customerConsented is missing; expected true or false"
            )
        }
        let range = 0...Int64(ConsumptionInformation.percentageMax)
        let answered = ConsumptionProposal(
            deliveryStatus: try object.word("deliveryStatus") ?? proposal.deliveryStatus,
            sampleContentProvided: try object.value(
                "sampleContentProvided",
                "true or false",
                \.boolean
            ) ?? proposal.sampleContentProvided,
            consumptionPercentage: try object.number("consumptionPercentage", range)
                ?? proposal.consumptionPercentage,
            refundPreference: try object.word("refundPreference") ?? proposal.refundPreference
        )
        return consented ? answered : nil
    }
}
