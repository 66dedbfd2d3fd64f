import Hummingbird
import Subledger
import SubledgerHTTP

/// What the app on the device asks its server.
///
/// Here the path names the customer, by the token that the app passes to StoreKit as
/// `appAccountToken`; in yours, the session of the customer does.
struct CustomerRoutes {
    let ledger: Ledger

    func add(to router: Router<LedgerRequestContext>) {
        router.get("customers/:token/access") { _, context in
            try await access(of: context.parameters.require("token"))
        }
        router.get("customers/:token/entitlements") { _, context in
            let token = try context.parameters.require("token")
            let document = try await ledger.entitlements(of: SubjectID(token), at: .systemClock())
            return document.entitlements.filter(\.value.isActive).keys.sorted()
        }
        router.post("customers/:token/purchases") { request, context in
            let body = try await request.body.collect(upTo: 1 << 20)
            try await receive([UInt8](body.readableBytesView))
            return try await access(of: context.parameters.require("token"))
        }
    }

    /// Takes what the app uploads after a purchase or a restore: a signed transaction, or the app's
    /// receipt.
    func receive(_ body: [UInt8]) async throws {
        do {
            // Durable when it returns.
            _ = try await ledger.ingest(body, source: "upload", sender: .unproven)
        } catch let rejection as Rejection {
            // It can never be accepted, however often the app sends it.
            throw HTTPError(.badRequest, message: rejection.message)
        }
    }

    /// Whether a customer has access now, and until when as far as is known.
    func access(of token: String) async throws -> Access {
        let document = try await ledger.access(of: SubjectID(token), at: .systemClock())
        return Access(access: document.access, until: document.until?.milliseconds)
    }
}

/// The answer to the app.
struct Access: ResponseCodable, Equatable {
    let access: Bool
    /// Milliseconds since 1970; nil for no end, or no access.
    let until: Int64?
}
