internal import AppStore
public import Events

extension AppStoreServerClient {
    /// Extends the renewal date of one subscription.
    ///
    /// - Parameters:
    ///   - id: Its original transaction id.
    ///   - wanted: For how long and why.
    ///   - environment: Production or Sandbox.
    /// - Returns: What came of it.
    /// - Throws: `ServerError`, `CancellationError`. Nothing is sent twice: after `timedOut` and
    ///   `unavailable` it may have been done all the same.
    public func extendRenewalDate(
        of id: String,
        by wanted: RenewalExtension,
        in environment: Environment
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
    ///   - storefronts: Only in these, as three letters such as USA; none for all.
    ///   - wanted: For how long and why.
    ///   - environment: Production or Sandbox.
    /// - Returns: The identifier with which the status can be asked for.
    /// - Throws: As for one subscription.
    public func extendRenewalDates(
        ofProduct productId: String,
        storefronts: [String] = [],
        by wanted: RenewalExtension,
        in environment: Environment
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

    /// How far an extension for all subscribers of a product has come.
    ///
    /// - Parameters:
    ///   - productId: The product.
    ///   - requestIdentifier: The request.
    ///   - environment: Production or Sandbox.
    /// - Returns: The status; nil where Apple knows no such request.
    /// - Throws: `ServerError`, `CancellationError`.
    public func extensionStatus(
        ofProduct productId: String,
        _ requestIdentifier: String,
        in environment: Environment
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
    ///   - information: What is told about it; its customer consented to that.
    ///   - id: Its id, as the notification `CONSUMPTION_REQUEST` has it.
    ///   - environment: Production or Sandbox.
    /// - Throws: As for an extension.
    public func send(
        _ information: ConsumptionInformation,
        about id: String,
        in environment: Environment
    ) async throws {
        _ = try await call(.sendConsumption(id, information), in: environment)
    }

    private func perform(
        _ command: ServerCommand,
        in environment: Environment
    ) async throws -> JSON.Value {
        guard let root = AppStoreServerClient.object(try await call(command, in: environment))
        else {
            throw AppStoreServerClient.unreadable(command.path)
        }
        return root
    }

    private func call(
        _ command: ServerCommand,
        in environment: Environment
    ) async throws -> [UInt8] {
        try await send(
            ServerCall(
                method: command.method,
                target: command.path,
                path: command.path,
                body: command.body,
                endpoint: command.endpoint
            ),
            in: environment
        )
    }

    private static func object(_ payload: [UInt8]) -> JSON.Value? {
        do throws(JSON.Failure) {
            let root = try JSON(payload).root
            return root.kind == .object ? root : nil
        } catch {
            return nil
        }
    }

    // It may have been done: what Apple says about it decides, and not another attempt.
    private static func unreadable(_ what: String) -> ServerError {
        ServerError(
            .answerUnreadable,
            "Apple accepted \(what), and its answer is not of the documented form. Ask for the "
                + "statuses before you send it again"
        )
    }
}
