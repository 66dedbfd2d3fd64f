import Events
import Testing

@testable import AppStore

/// verifyReceipt responses that are vouched for, which the tests of that format share.
struct VouchedResponses {
    let verifier: AppStoreVerifier

    init(assuming environment: StoreEnvironment? = nil) {
        verifier = AppStoreVerifier(policy: VerificationPolicy(assumedEnvironment: environment))
    }

    func facts(_ body: String) throws -> [Fact] {
        try verifier.verify(
            payload: Array(body.utf8),
            source: "test",
            receivedAt: receivedAt,
            voucher: .operator
        ).facts
    }

    func refusal(of body: String) -> Rejection? {
        do {
            _ = try facts(body)
            return nil
        } catch let rejection as Rejection {
            return rejection
        } catch {
            Issue.record(error)
            return nil
        }
    }

    /// A response with these entries of `latest_receipt_info` and further members.
    func response(latest: String, inApp: String = "[]", more: String = "") -> String {
        """
        {"status":0,"environment":"Sandbox","receipt":{"receipt_type":"ProductionSandbox",\
        "bundle_id":"com.example","receipt_creation_date_ms":"1595439548000",\
        "request_date_ms":"1595440486402","in_app":\(inApp)},"latest_receipt_info":\(latest)\
        \(more.isEmpty ? "" : "," + more)}
        """
    }

    /// A period with every property that an entry usually has.
    static let row = """
        {"quantity":"1","product_id":"pro","transaction_id":"101","original_transaction_id":"100",\
        "purchase_date":"2020-07-22 17:39:06 Etc/GMT","purchase_date_ms":"1595439546000",\
        "expires_date":"2020-07-22 18:39:06 Etc/GMT","expires_date_ms":"1595443146000",\
        "web_order_line_item_id":"9","is_trial_period":"false","is_in_intro_offer_period":"false",\
        "subscription_group_identifier":"20","in_app_ownership_type":"PURCHASED"}
        """

    // The object from published samples: milliseconds under the text property's name, and genuine
    // ones.
    static let single = """
        {"original_transaction_id":"1","transaction_id":"2","product_id":"p","bid":"com.example",\
        "purchase_date_ms":"1355271005612","expires_date":"1355271305612",\
        "expires_date_formatted":"2012-12-12 00:15:05 Etc/GMT","item_id":"5","bvrs":"1.0",\
        "unique_identifier":"aa","is_trial_period":"false"}
        """
}
