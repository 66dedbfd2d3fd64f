import Catalog
import Events
import Projections

/// Small hand-written files in the shapes of Apple's data: StoreKit configuration, App Store
/// Connect responses.
enum Fixtures {
    /// The first format: no identifier, no storefront, no lists of later offers.
    static let storekit1 = """
        {
          "products" : [
            {
              "displayPrice" : "4.99",
              "familyShareable" : false,
              "internalID" : "51A56598",
              "localizations" : [ { "description" : "", "displayName" : "Full", "locale" : "en_US" } ],
              "productID" : "app.full",
              "referenceName" : "Full version",
              "type" : "NonConsumable"
            }
          ],
          "settings" : { },
          "subscriptionGroups" : [
            {
              "id" : "20000001",
              "localizations" : [ ],
              "name" : "Plans",
              "subscriptions" : [
                {
                  "adHocOffers" : [ ],
                  "displayPrice" : "9.99",
                  "familyShareable" : true,
                  "groupNumber" : 1,
                  "internalID" : "AAAAAAAA",
                  "introductoryOffer" : {
                    "internalID" : "BBBBBBBB",
                    "paymentMode" : "free",
                    "subscriptionPeriod" : "P1W"
                  },
                  "localizations" : [ ],
                  "productID" : "app.monthly",
                  "recurringSubscriptionPeriod" : "P1M",
                  "referenceName" : "Monthly",
                  "subscriptionGroupID" : "20000001",
                  "type" : "RecurringSubscription"
                }
              ]
            }
          ],
          "version" : { "major" : 1, "minor" : 0 }
        }
        """

    /// Formats 2 to 4: one subscription with every kind of offer; `version` is inserted.
    static func storekit(_ version: Int, introductory: String, more: String = "") -> String {
        """
        {
          "identifier" : "5AB1ED6E",
          "appPolicies" : { "eula" : "", "policies" : [ ] },
          "nonRenewingSubscriptions" : [
            { "displayPrice" : "19.99", "internalID" : "6", "productID" : "app.season",
              "referenceName" : "Season", "type" : "NonRenewingSubscription" }
          ],
          "products" : [
            { "displayPrice" : "0.99", "familyShareable" : false, "productID" : "app.coins",
              "type" : "Consumable" }
          ],
          "settings" : {
            "_applicationInternalID" : "1", "_lastSynchronizedDate" : 700000000.5,
            "_locale" : "de", "_storefront" : "DEU"
          },
          "subscriptionGroups" : [
            { "id" : "20000002", "name" : "Plans", "subscriptions" : [
              { "adHocOffers" : [
                  { "displayPrice" : "1.99", "internalID" : "7", "numberOfPeriods" : 3,
                    "offerID" : "stay", "paymentMode" : "payAsYouGo",
                    "referenceName" : "Stay with us", "subscriptionPeriod" : "P1M" } ],
                "codeOffers" : [
                  { "displayPrice" : "5.99", "eligibility" : [ "new" ], "internalID" : "8",
                    "paymentMode" : "payUpFront", "referenceName" : "fair",
                    "subscriptionPeriod" : "P3M" } ],
                "displayPrice" : "4.99", "familyShareable" : false, "groupNumber" : 2,
                "internalID" : "9", \(introductory), "localizations" : [
                  { "displayName" : "Every month", "locale" : "en_US" },
                  { "displayName" : "Jeden Monat", "locale" : "de" } ],
                "productID" : "app.monthly", "recurringSubscriptionPeriod" : "P1M",
                "referenceName" : "Monthly", "type" : "RecurringSubscription", \(more)
                "winbackOffers" : [
                  { "displayPrice" : "0.00", "internalID" : "10", "isFuture" : { "deep" : [ 1 ] },
                    "offerID" : "back", "paymentMode" : "free", "subscriptionPeriod" : "P2W" } ]
              }
            ] }
          ],
          "version" : { "major" : \(version), "minor" : 0 }
        }
        """
    }

    /// The one introductory offer of formats up to 4.
    static let singleOffer = """
        "introductoryOffer" : { "displayPrice" : "", "internalID" : "11", "paymentMode" : "free", \
        "subscriptionPeriod" : "P3D" }
        """

    /// The introductory offers of format 5.
    static let listedOffers = """
        "introductoryOffers" : [ \
        { "displayPrice" : "0.00", "internalID" : "11", "paymentMode" : "free", \
        "subscriptionPeriod" : "P3D" } ]
        """

    /// The billing plans of format 5, one of them switched off.
    static let billingPlans = """
        "billingPlans" : [ \
        { "billingPlanType" : "BILLED_UPFRONT", "commitmentDisplayPrice" : "49.99", \
        "displayPrice" : "49.99", "internalID" : "12", "isEnabled" : true }, \
        { "billingPlanType" : "MONTHLY", "commitmentDisplayPrice" : "59.88", \
        "displayPrice" : "4.99", "internalID" : "13", "isEnabled" : false } ],
        """

    /// A file with one subscription, whose members are given.
    static func subscription(_ members: String, group: String = "20000003") -> String {
        """
        {"subscriptionGroups":[{"id":"\(group)","name":"G","subscriptions":[{\(members)}]}]}
        """
    }

    /// The required members of a subscription, and nothing else.
    static let needed = """
        "productID":"a","groupNumber":1,"recurringSubscriptionPeriod":"P1M"
        """

    /// A bundle and a suite, in the words that are assumed (Apple's data: bundles).
    static let bundles = """
        {"subscriptionGroups":[{"id":"20000004","name":"G","subscriptions":[
        {"productID":"office","type":"SubscriptionBundle","groupNumber":1,
        "recurringSubscriptionPeriod":"P1M","displayPrice":"19.99",
        "bundledSubscriptions":[{"productID":"mail"},{"productID":"drive","price":4.99}]},
        {"productID":"studio","type":"SubscriptionSuite","groupNumber":2,
        "recurringSubscriptionPeriod":"P1M"},
        {"productID":"mail","type":"RecurringSubscription","groupNumber":3,
        "recurringSubscriptionPeriod":"P1M"}]}]}
        """

    /// Groups with their subscriptions included.
    static let groups = """
        {"data":[{"type":"subscriptionGroups","id":"21400001","attributes":{"referenceName":"Plans"},
          "relationships":{"subscriptions":{"data":[{"type":"subscriptions","id":"1"},
            {"type":"subscriptions","id":"2"},{"type":"subscriptions","id":"3"}],
            "meta":{"paging":{"total":3,"limit":10}}}}}],
         "included":[
          {"type":"subscriptions","id":"1","attributes":{"name":"Pro","productId":"app.pro",
            "familySharable":true,"state":"APPROVED","subscriptionPeriod":"ONE_YEAR",
            "groupLevel":1,"reviewNote":null},"links":{"self":"https://x"}},
          {"type":"subscriptions","id":"2","attributes":{"name":"Plus","productId":"app.plus",
            "familySharable":false,"state":"REMOVED_FROM_SALE","subscriptionPeriod":"ONE_MONTH",
            "groupLevel":2}},
          {"type":"subscriptions","id":"3","attributes":{"name":"Draft","productId":"app.draft",
            "familySharable":false,"state":"MISSING_METADATA","subscriptionPeriod":null,
            "groupLevel":3}}],
         "links":{"self":"https://api.appstoreconnect.apple.com/v1/apps/1/subscriptionGroups"},
         "meta":{"paging":{"total":1,"limit":50}}}
        """

    /// The subscriptions of one group, which only the link names, with their offers.
    static let subscriptions = """
        {"data":[{"type":"subscriptions","id":"1","attributes":{"name":"Pro","productId":"app.pro",
            "familySharable":true,"state":"APPROVED","subscriptionPeriod":"SIX_MONTHS",
            "groupLevel":1},
          "relationships":{
            "introductoryOffers":{"data":[{"type":"subscriptionIntroductoryOffers","id":"i1"},
              {"type":"subscriptionIntroductoryOffers","id":"i2"}]},
            "promotionalOffers":{"data":[{"type":"subscriptionPromotionalOffers","id":"p"}]},
            "offerCodes":{"data":[{"type":"subscriptionOfferCodes","id":"c"}]},
            "winBackOffers":{"data":[{"type":"winBackOffers","id":"w"}]}}}],
         "included":[
          {"type":"subscriptionIntroductoryOffers","id":"i1","attributes":{"duration":"TWO_WEEKS",
            "offerMode":"FREE_TRIAL","numberOfPeriods":1,"startDate":null}},
          {"type":"subscriptionIntroductoryOffers","id":"i2","attributes":{"duration":"TWO_WEEKS",
            "offerMode":"FREE_TRIAL","numberOfPeriods":1,"startDate":null}},
          {"type":"subscriptionPromotionalOffers","id":"p","attributes":{"duration":"ONE_MONTH",
            "name":"Stay with us","offerCode":"stay","offerMode":"PAY_AS_YOU_GO",
            "numberOfPeriods":3}},
          {"type":"subscriptionOfferCodes","id":"c","attributes":{"duration":"ONE_WEEK",
            "name":"fair","offerMode":"PAY_UP_FRONT","numberOfPeriods":1}},
          {"type":"winBackOffers","id":"w","attributes":{"duration":"THREE_MONTHS",
            "offerId":"back","offerMode":"FREE_TRIAL","periodCount":1}}],
         "links":{"self":"https://x/v1/subscriptionGroups/21400009/subscriptions?limit=1",
           "next":"https://x/v1/subscriptionGroups/21400009/subscriptions?cursor=2"}}
        """
}

/// Reads a file with that text.
func read(_ text: String) throws -> CatalogContent {
    try CatalogFile.read(Array(text.utf8))
}

extension CatalogContent {
    /// The content as a version.
    var catalog: ProductCatalog { version(1, effectiveFrom: Instant(milliseconds: 0)) }

    /// The codes of its warnings.
    var warningCodes: [String] { warnings.map(\.code.rawValue) }
}
