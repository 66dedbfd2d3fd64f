/// The `status` of a verifyReceipt response, and how to react to it (Apple's data: verifyReceipt
/// status).
enum ReceiptStatus {
    /// The iOS 6 receipt is valid, but its subscription is over: not an error.
    static let expired: Int64 = 21_006

    /// Refuses a response whose status means that it holds no data.
    static func check(_ body: JSON.Value) throws(Rejection) {
        guard let value = body["status"], !value.isBlank else { return }
        guard let status = value.looseInteger else {
            throw Rejection(
                .claimMalformed,
                "status of a verifyReceipt response must be a number; found \(value.kind)."
            )
        }
        if status == 0 || status == expired { return }
        let (code, meaning) = refusal(of: status, isRetryable: isRetryable(body))
        throw Rejection(
            code,
            "The verifyReceipt response has status \(status) and no data: \(meaning)"
        )
    }

    // Both spellings occur, each as a flag, a number or text.
    private static func isRetryable(_ body: JSON.Value) -> Bool? {
        (body["is-retryable"] ?? body["is_retryable"])?.looseFlag
    }

    private static func refusal(
        of status: Int64,
        isRetryable: Bool?
    ) -> (Rejection.Code, meaning: String) {
        switch status {
        case 21_000:
            (.receiptStatusRequest, "the request was not an HTTP POST. Fix the caller.")
        case 21_001:
            (.receiptStatusRequest, "a status that Apple no longer uses. Ask Apple again.")
        case 21_002:
            (
                .receiptStatusRetry,
                "receipt-data was malformed or missing, or Apple had a temporary problem. Ask "
                    + "again a few times, then give up."
            )
        case 21_003: (.receiptStatusForged, "Apple could not authenticate the receipt.")
        case 21_004:
            (
                .receiptStatusRequest,
                "the shared secret is not the app's. Correct it and ask Apple again."
            )
        case 21_005, 21_009:
            (.receiptStatusRetry, "Apple's service was down. Ask again later.")
        case 21_007:
            (
                .receiptStatusEnvironment,
                "a sandbox receipt was sent to production. Send it to the sandbox."
            )
        case 21_008:
            (
                .receiptStatusEnvironment,
                "a production receipt was sent to the sandbox. Send it to production."
            )
        case 21_010:
            (
                .receiptStatusAccount,
                "Apple did not find the account, or it was deleted. History stays as it is."
            )
        case 21_100...21_199 where isRetryable == false:
            (.receiptStatusGaveUp, "Apple's data access failed permanently.")
        case 21_100...21_199: (.receiptStatusRetry, "Apple's data access failed. Ask again.")
        default: (.receiptStatusGaveUp, "an unknown status.")
        }
    }
}
