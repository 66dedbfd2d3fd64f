internal import AppStore
package import Events

extension AppStoreServerClient {
    /// Extends the renewal date of one subscription.
    ///
    /// - Parameters:
    ///   - id: Its original transaction id.
    ///   - wanted: The number of days, the reason and the request identifier.
    ///   - environment: Production or Sandbox.
    /// - Returns: Apple's result.
    /// - Throws: `ServerError`, `CancellationError`. The request is never sent twice: after
    ///   `timedOut` or `unavailable`, Apple may still have carried it out.
    package func extendRenewalDate(
        of id: String,
        by wanted: RenewalExtension,
        in environment: StoreEnvironment
    ) async throws -> RenewalExtensionResult {
        let answer = try await perform(.extendRenewalDate(id, wanted), in: environment)
        guard let result = answer["originalTransactionId"]?.text,
            let success = answer["success"]?.boolean
        else { throw AppStoreServerClient.unreadable("the extension of \(id)") }
        return RenewalExtensionResult(
            originalTransactionId: result,
            success: success,
            effectiveDate: answer["effectiveDate"]?.integer.map(Instant.init(milliseconds:))
        )
    }

    /// Asks Apple to extend the renewal dates of all active subscribers of a product; Apple does so
    /// during the next hours or days.
    ///
    /// - Parameters:
    ///   - productId: The product.
    ///   - storefronts: Three-letter codes such as USA; empty for all storefronts.
    ///   - wanted: The number of days, the reason and the request identifier.
    ///   - environment: Production or Sandbox.
    /// - Returns: The identifier that `extensionStatus` expects.
    /// - Throws: As `extendRenewalDate` does.
    package func extendRenewalDates(
        ofProduct productId: String,
        storefronts: [String] = [],
        by wanted: RenewalExtension,
        in environment: StoreEnvironment
    ) async throws -> String {
        let command = ServerCommand.extendRenewalDates(
            productId: productId,
            storefronts: storefronts,
            wanted
        )
        let answer = try await perform(command, in: environment)
        guard let identifier = answer["requestIdentifier"]?.text else {
            throw AppStoreServerClient.unreadable("the extension for all of \(productId)")
        }
        return identifier
    }

    /// Requests the status of an extension for all subscribers of a product.
    ///
    /// - Parameters:
    ///   - productId: The product.
    ///   - requestIdentifier: The identifier of the extension.
    ///   - environment: Production or Sandbox.
    /// - Returns: The status; nil if Apple does not know the request.
    /// - Throws: `ServerError`, `CancellationError`.
    package func extensionStatus(
        ofProduct productId: String,
        _ requestIdentifier: String,
        in environment: StoreEnvironment
    ) async throws -> RenewalExtensionStatus? {
        let question = ServerRequest.extensionStatus(
            productId: productId,
            requestIdentifier: requestIdentifier
        )
        let payload: [UInt8]
        do {
            payload = try await answer(to: question, in: environment).payload
        } catch let error as ServerError where error.errorCode == .extensionNotFound {
            return nil
        }
        guard let root = AppStoreServerClient.object(payload),
            let identifier = root["requestIdentifier"]?.text,
            let complete = root["complete"]?.boolean
        else { throw AppStoreServerClient.unreadable("the status of \(requestIdentifier)") }
        return RenewalExtensionStatus(
            requestIdentifier: identifier,
            complete: complete,
            completeDate: root["completeDate"]?.integer.map(Instant.init(milliseconds:)),
            succeededCount: root["succeededCount"]?.integer,
            failedCount: root["failedCount"]?.integer
        )
    }

    /// Sends consumption information about a transaction.
    ///
    /// - Parameters:
    ///   - information: The information; the customer must have consented to sending it.
    ///   - id: The transaction id from the notification `CONSUMPTION_REQUEST`.
    ///   - environment: Production or Sandbox.
    /// - Throws: As `extendRenewalDate` does.
    package func send(
        _ information: ConsumptionInformation,
        about id: String,
        in environment: StoreEnvironment
    ) async throws {
        let command = ServerCommand.sendConsumption(id, body: information.body)
        _ = try await send(command.call, in: environment)
    }

    func perform(
        _ command: ServerCommand,
        in environment: StoreEnvironment
    ) async throws -> JSON.Value {
        let call = command.call
        guard let root = AppStoreServerClient.object(try await send(call, in: environment)) else {
            throw AppStoreServerClient.unreadable(call.path)
        }
        return root
    }

    static func object(_ payload: [UInt8]) -> JSON.Value? {
        JSON.root(of: payload).flatMap { $0.kind == .object ? $0 : nil }
    }

    // Apple may have carried the request out, so it must not be sent again without a check.
    static func unreadable(_ what: String) -> ServerError {
        ServerError(
            .answerUnreadable,
            "Apple accepted the request, but its answer about \(what) does not have the documented "
                + "form. Check the status before you send the request again"
        )
    }
}
