internal import AppStore
internal import Events

/// A request to verifyReceipt, and the reaction to its status.
struct ReceiptQuestion {
    let receipt: String
    let sharedSecret: String?

    static let path = "/verifyReceipt"

    /// The receipt belongs to the environment that was not asked.
    struct OtherEnvironment: Error {}

    /// The JSON of the request.
    ///
    /// Old transactions are never excluded: they are the history.
    var body: [UInt8] {
        var json = #"{"receipt-data":""# + ReceiptQuestion.plain(receipt) + #"""#
        if let sharedSecret {
            json += #","password":""# + ReceiptQuestion.plain(sharedSecret) + #"""#
        }
        return Array((json + "}").utf8)
    }

    /// The bytes of an answer with data.
    ///
    /// - Throws: `ServerError`; `OtherEnvironment`.
    func payload(of reply: Transport.Reply) throws -> [UInt8] {
        let path = ReceiptQuestion.path
        guard (200...299).contains(reply.status) else {
            let isRetried = ServerErrorCode.response(toStatus: reply.status) != .giveUp
            throw ServerError(
                isRetried ? .unavailable : .refused,
                "\(path): Apple answered with HTTP status \(reply.status)"
            )
        }

        let root: JSON.Value
        do throws(JSON.Failure) {
            root = try JSON(reply.body).root
        } catch {
            throw ServerError(
                .answerUnreadable,
                "the answer of \(path) is not JSON: \(error.reason.rawValue) at byte "
                    + "\(error.offset) of \(reply.body.count). Nothing of it was taken"
            )
        }

        guard let status = root["status"]?.integer else {
            throw ServerError(.answerUnreadable, "the answer of \(path) has no status")
        }
        do throws(Rejection) {
            try ReceiptStatus.check(root)
            return reply.body
        } catch {
            throw ReceiptQuestion.refusal(error, status)
        }
    }

    private static func refusal(_ rejection: Rejection, _ status: Int64) -> any Error {
        switch rejection.code {
        case .receiptStatusEnvironment: OtherEnvironment()
        case .receiptStatusRetry: ServerError(.unavailable, "verifyReceipt: \(rejection.message)")
        case .receiptStatusRequest where status == 21_004:
            ServerError(.credentials, "verifyReceipt: \(rejection.message)")
        default: ServerError(.refused, "verifyReceipt: \(rejection.message)")
        }
    }

    // Base64 and a hexadecimal secret need no escapes; any other character is left out, and Apple
    // reports what is wrong with the rest.
    private static func plain(_ text: String) -> String {
        text.filter { $0.isASCII && !$0.isWhitespace && $0 != "\"" && $0 != "\\" }
    }
}
