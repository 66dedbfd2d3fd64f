internal import AppStoreSimulator
internal import Events
internal import Foundation
internal import Synchronization

/// The body of Send Consumption Information, version 2.
struct ConsumptionBody: Codable, Hashable {
    let customerConsented: Bool?
    let sampleContentProvided: Bool?
    let deliveryStatus: String?
    let consumptionPercentage: Int64?
    let refundPreference: String?
}

/// The consumption information that was sent about a transaction.
struct ConsumptionDocument: Encodable, Hashable {
    let transactionId: String
    let receivedAt: Instant
    let consumption: ConsumptionBody
}

extension ServedStore {
    private static let deliveryStatuses: Set<String> = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM",
        "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
    ]
    private static let refundPreferences: Set<String> = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]
    /// A whole purchase, in thousandths of a percent.
    private static let percentageMax: Int64 = 100_000

    /// Checks consumption information as Apple does, and keeps it for `/control`.
    func takeConsumption(
        _ body: ConsumptionBody,
        about id: String,
        at now: Instant
    ) throws(StoreError) {
        _ = try transaction(id, at: now)
        guard body.customerConsented == true else { throw .invalidCustomerConsented }
        guard body.sampleContentProvided != nil else { throw .invalidSampleContentProvided }
        guard let status = body.deliveryStatus, Self.deliveryStatuses.contains(status) else {
            throw .invalidDeliveryStatus
        }
        let range = 0...Self.percentageMax
        guard body.consumptionPercentage.map(range.contains) ?? true,
            body.refundPreference.map(Self.refundPreferences.contains) ?? true
        else { throw .badRequest }
        consumption.withLock { kept in
            kept.append(ConsumptionDocument(transactionId: id, receivedAt: now, consumption: body))
            kept.removeFirst(max(0, kept.count - Self.consumptionMax))
        }
    }

    /// The maximum number of bodies to keep; the oldest are dropped.
    private static let consumptionMax = 10_000
}
