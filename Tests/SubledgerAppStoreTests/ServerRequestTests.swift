import Events
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
@testable import SubledgerAppStore
import Synchronization
import Testing

/// Each request as it arrives at a server: method, path with its query, headers and body, byte for
/// byte.
///
/// Apple's own server libraries fix methods, paths, queries and the members of bodies; the order of
/// the members is ours.
@Suite struct ServerRequestTests {
    /// A request as a server receives it.
    private struct Received: Sendable {
        var line = ""
        var headers: [String: String] = [:]
        var body = ""
    }

    private struct Expected {
        let line: String
        var body: String = ""
    }

    /// The request as it arrives at a server.
    private static func received(
        _ answer: String = "{}",
        _ ask: @escaping @Sendable (AppStoreServerClient) async throws -> Void
    ) async throws -> Received {
        let kept = Mutex(Received())
        try await OddServer.run { _, request in
            let body = try await request.body.collect(upTo: 1 << 16)
            kept.withLock { received in
                received.line = "\(request.method.rawValue) \(request.uri.string)"
                for field in request.headers {
                    received.headers[field.name.canonicalName] = field.value
                }
                received.body = String(buffer: body)
            }
            return OddServer.json(answer)
        } _: { url, _ in
            try await AppStoreServerClient.with(try anyCredentials(), url: url) { client in
                // These tests ignore what an empty answer lacks.
                do {
                    try await ask(client)
                } catch is ServerError {}
            }
        }
        return kept.withLock { $0 }
    }

    private static let uuid = "fdf964a4-233b-486c-aac1-97d8d52688ac"

    private static let questions: [(ServerRequest, String?, Expected)] = [
        (.transactionHistory("1234"), nil, Expected(line: "GET /inApps/v2/history/1234")),
        (
            .transactionHistory("1234"), "revision_input",
            Expected(line: "GET /inApps/v2/history/1234?revision=revision_input")
        ),
        (
            .transactionHistory("1"), "a+b/c=",
            Expected(line: "GET /inApps/v2/history/1?revision=a%2Bb%2Fc%3D")
        ),
        (.subscriptionStatuses("4321"), nil, Expected(line: "GET /inApps/v1/subscriptions/4321")),
        (
            .refundHistory("555555"), "revision_input",
            Expected(line: "GET /inApps/v2/refund/lookup/555555?revision=revision_input")
        ),
        (.transaction("1234"), nil, Expected(line: "GET /inApps/v1/transactions/1234")),
        (
            .appTransaction("1234"), nil,
            Expected(line: "GET /inApps/v1/transactions/appTransactions/1234")
        ),
        (.order("W002182"), nil, Expected(line: "GET /inApps/v1/lookup/W002182")),
        (
            .order("../history/1"), nil,
            Expected(line: "GET /inApps/v1/lookup/..%2Fhistory%2F1")
        ),
        (.testNotification, nil, Expected(line: "POST /inApps/v1/notifications/test")),
        (
            .testNotificationStatus("8cd2974c-f905-492a-bf9a-b2f47c791d19"), nil,
            Expected(
                line: "GET /inApps/v1/notifications/test/8cd2974c-f905-492a-bf9a-b2f47c791d19"
            )
        ),
        (
            .extensionStatus(
                productId: "com.example.product",
                requestIdentifier: "20fba8a0-2b80-4a7d-a17f-85c1854727f8"
            ), nil,
            Expected(
                line: "GET /inApps/v1/subscriptions/extend/mass/com.example.product/"
                    + "20fba8a0-2b80-4a7d-a17f-85c1854727f8"
            )
        ),
        (
            .notificationHistory(
                ServerRequest.NotificationFilter(
                    start: Instant(milliseconds: 1_698_148_900_000),
                    end: Instant(milliseconds: 1_698_148_950_000),
                    transactionId: "999733843",
                    onlyFailures: true
                )
            ), "a036bc0e-52b8-4bee-82fc-8c24cb6715d6",
            Expected(
                line: "POST /inApps/v1/notifications/history"
                    + "?paginationToken=a036bc0e-52b8-4bee-82fc-8c24cb6715d6",
                body: #"{"startDate":1698148900000,"endDate":1698148950000,"#
                    + #""transactionId":"999733843","onlyFailures":true}"#
            )
        ),
        (
            .notificationHistory(
                ServerRequest.NotificationFilter(
                    start: Instant(milliseconds: 1_698_148_900_000),
                    end: Instant(milliseconds: 1_698_148_950_000)
                )
            ), nil,
            Expected(
                line: "POST /inApps/v1/notifications/history",
                body: #"{"startDate":1698148900000,"endDate":1698148950000}"#
            )
        ),
    ]

    private static func expect(_ received: Received, _ expected: Expected) {
        #expect(received.line == expected.line)
        #expect(received.body == expected.body, "\(expected.line)")
        let type = received.headers["content-type"]
        #expect(type == (expected.body.isEmpty ? nil : "application/json"), "\(expected.line)")
        #expect(received.headers["accept"] == "application/json")
        #expect(received.headers["user-agent"] == "subledger")
        let token = received.headers["authorization"] ?? ""
        #expect(token.hasPrefix("Bearer ") && token.split(separator: ".").count == 3)
    }

    @Test func `questions arrive as Apple documents them, byte for byte`() async throws {
        for (request, page, expected) in Self.questions {
            let received = try await Self.received { client in
                _ = try await client.answer(to: request, page: page, in: .production)
            }
            Self.expect(received, expected)
        }
        let sandbox = try await Self.received { client in
            _ = try await client.answer(to: .transaction("1"), in: .sandbox)
        }
        #expect(sandbox.line == "GET /sandbox/inApps/v1/transactions/1")
    }

    @Test func `extensions arrive as Apple documents them, byte for byte`()
        async throws
    {
        let wanted = try #require(
            RenewalExtension(days: 45, reason: .customerSatisfaction, requestIdentifier: Self.uuid)
        )
        let one = try await Self.received { client in
            _ = try await client.extendRenewalDate(of: "4124214", by: wanted, in: .production)
        }
        Self.expect(
            one,
            Expected(
                line: "PUT /inApps/v1/subscriptions/extend/4124214",
                body:
                    #"{"extendByDays":45,"extendReasonCode":1,"requestIdentifier":"\#(Self.uuid)"}"#
            )
        )
        let all = try await Self.received { client in
            _ = try await client.extendRenewalDates(
                ofProduct: "com.example.productId",
                storefronts: ["USA", "MEX"],
                by: wanted,
                in: .production
            )
        }
        Self.expect(
            all,
            Expected(
                line: "POST /inApps/v1/subscriptions/extend/mass",
                body:
                    #"{"extendByDays":45,"extendReasonCode":1,"requestIdentifier":"\#(Self.uuid)","#
                    + #""storefrontCountryCodes":["USA","MEX"],"productId":"com.example.productId"}"#
            )
        )
    }

    @Test func `requests about groups and seats arrive as Apple documents them, byte for byte`()
        async throws
    {
        let pages: [(ServerRequest, String?, String)] = [
            (.customerGroups("7"), nil, "GET /sandbox/groups/v1/currentGroups/7"),
            (.groupMembers("g/1", limit: nil), nil, "GET /sandbox/groups/v1/group/g%2F1"),
            (
                .groupMembers("g", limit: 50), "a=",
                "GET /sandbox/groups/v1/group/g?limit=50&paginationToken=a%3D"
            ),
            (.seats("12"), nil, "GET /sandbox/groups/v1/transactions/12/seats"),
        ]
        for (request, page, line) in pages {
            let received = try await Self.received { client in
                _ = try await client.answer(to: request, page: page, in: .sandbox)
            }
            Self.expect(received, Expected(line: line))
        }
        let seats = "/sandbox/groups/v1/transactions/12/seats"
        let claim = try #require(SeatClaim(requestIdentifier: "r", appTransactionId: "7"))
        let claimed = try await Self.received { client in
            _ = try await client.claimSeat(claim, of: "12", in: .sandbox)
        }
        let body = #"{"requestIdentifier":"r","appTransactionId":"7"}"#
        Self.expect(claimed, Expected(line: "POST \(seats)", body: body))
        let released = try await Self.received { client in
            try await client.unclaimSeat("c", of: "12", in: .sandbox)
        }
        Self.expect(released, Expected(line: "DELETE \(seats)/c"))
        let associated = try await Self.received { client in
            try await client.associateSeat("c", with: "7", of: "12", in: .sandbox)
        }
        Self.expect(
            associated,
            Expected(line: "POST \(seats)/c/associate", body: #"{"appTransactionId":"7"}"#)
        )
    }

    @Test func `a revocation of seats arrives with their number, in production too`() async throws {
        let wanted = try #require(
            SeatRevocation(
                seats: 3,
                refundType: .prorated,
                reason: .fulfillmentIssue,
                isRefundRiskingPreferred: false,
                requestReferenceId: Self.uuid
            )
        )
        let received = try await Self.received { client in
            try await client.revokeSeats(wanted, of: "12", in: .production)
        }
        Self.expect(
            received,
            Expected(
                line: "POST /advancedCommerce/v1/subscription/revoke/12",
                body: #"{"requestInfo":{"requestReferenceId":"\#(Self.uuid)"},"#
                    + #""refundRiskingPreference":false,"refundType":"PRORATED","#
                    + #""refundReason":"FULFILLMENT_ISSUE","revokeSeatQuantity":3}"#
            )
        )
    }

    @Test func `consumption information arrives as Apple documents it, byte for byte`()
        async throws
    {
        let used = try #require(
            ConsumptionInformation(
                deliveryStatus: .delivered,
                isSampleProvided: false,
                consumptionPercentage: 50_000,
                refundPreference: .grantFull
            )
        )
        let full = try await Self.received { client in
            try await client.send(used, about: "49571273", in: .production)
        }
        Self.expect(
            full,
            Expected(
                line: "PUT /inApps/v2/transactions/consumption/49571273",
                body: #"{"customerConsented":true,"sampleContentProvided":false,"#
                    + #""deliveryStatus":"DELIVERED","consumptionPercentage":50000,"#
                    + #""refundPreference":"GRANT_FULL"}"#
            )
        )
        let least = try #require(
            ConsumptionInformation(
                deliveryStatus: .undeliveredQualityIssue,
                isSampleProvided: false,
                consumptionPercentage: nil,
                refundPreference: nil
            )
        )
        let short = try await Self.received { client in
            try await client.send(least, about: "49571273", in: .production)
        }
        #expect(
            short.body == #"{"customerConsented":true,"sampleContentProvided":false,"#
                + #""deliveryStatus":"UNDELIVERED_QUALITY_ISSUE"}"#
        )
    }

    @Test func `a request that changes something is sent once, even if it fails`() async throws {
        let wanted = try #require(
            RenewalExtension(days: 1, reason: .other, requestIdentifier: "a")
        )
        try await OddServer.run { _, _ in
            OddServer.json(
                #"{"errorCode":5000001,"errorMessage":"x"}"#,
                status: .internalServerError
            )
        } _: { url, requests in
            try await AppStoreServerClient.with(try anyCredentials(), url: url) { client in
                let error = try await serverError {
                    _ = try await client.extendRenewalDate(of: "1", by: wanted, in: .production)
                }
                #expect(error.code == .unavailable && requests() == 1)
            }
        }
    }

    @Test func `an extension out of range cannot be made`() {
        for (days, id) in [(0, "a"), (91, "a"), (1, ""), (1, "a\"b"), (1, "a/b")] {
            #expect(RenewalExtension(days: days, reason: .other, requestIdentifier: id) == nil)
        }
        let long = String(repeating: "a", count: 129)
        #expect(RenewalExtension(days: 1, reason: .other, requestIdentifier: long) == nil)
        for percentage in [-1, 100_001] {
            let information = ConsumptionInformation(
                deliveryStatus: .delivered,
                isSampleProvided: true,
                consumptionPercentage: percentage,
                refundPreference: nil
            )
            #expect(information == nil)
        }
    }
}
