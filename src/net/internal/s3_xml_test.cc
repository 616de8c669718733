#include "net/internal/s3_xml.h"

#include <gtest/gtest.h>

namespace sibyl::net::internal {
namespace {

std::string listing(const std::string& inner) {
  return R"(<?xml version="1.0" encoding="UTF-8"?>)"
         R"(<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">)" +
         inner + "</ListBucketResult>";
}

TEST(S3Xml, AListingIsRead) {
  const auto page = parse_list_page(
      listing("<Name>b</Name><IsTruncated>true</IsTruncated>"
              "<NextContinuationToken>t/=&amp;</NextContinuationToken>"
              "<Contents><Key>a &amp; &#xFC;</Key><Size>12</Size><ETag>&quot;e&quot;</ETag>"
              "<Owner><ID>1</ID></Owner></Contents>"
              "<Contents><Key><![CDATA[b<c]]></Key><Size>0</Size></Contents>"));
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->objects.size(), 2U);
  EXPECT_EQ(page->objects[0].key, "a & \xC3\xBC");
  EXPECT_EQ(page->objects[0].bytes, 12U);
  EXPECT_EQ(page->objects[0].etag, "\"e\"");
  EXPECT_EQ(page->objects[1].key, "b<c");
  EXPECT_EQ(page->next, "t/=&");
  EXPECT_TRUE(parse_list_page(listing(""))->objects.empty());
}

TEST(S3Xml, HostileListingsAreRefused) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += "<a>";
  }
  for (const std::string& xml :
       {std::string(), std::string("<"), std::string("{}"), std::string("<html/>"),
        listing("<Contents><Key></Key><Size>1</Size></Contents>"),
        listing("<Contents><Key>a</Key><Size>-1</Size></Contents>"),
        listing("<Contents><Key>a</Key><Size>99999999999999999999999</Size></Contents>"),
        listing("<Contents><Key>a</Key></Contents>"),
        listing("<Contents><Key>" + std::string(1025, 'k') + "</Key><Size>1</Size></Contents>"),
        listing("<IsTruncated>true</IsTruncated>"), listing(deep),
        listing("<Contents><Key>a").substr(0, 150),
        std::string("<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/hostname\">]>"
                    "<ListBucketResult><Contents><Key>&x;</Key><Size>1</Size></Contents>"
                    "</ListBucketResult>"),
        std::string("<!DOCTYPE a [<!ENTITY x \"xx\"><!ENTITY y \"&x;&x;\">]>"
                    "<ListBucketResult><Contents><Key>&y;</Key><Size>1</Size></Contents>"
                    "</ListBucketResult>"),
        std::string(kXmlBytesMax + 1, ' ')}) {
    const auto page = parse_list_page(xml);
    ASSERT_FALSE(page) << xml.substr(0, 300);
    EXPECT_EQ(page.error().code, Code::InvalidData);
  }
}

TEST(S3Xml, ErrorsAndUploadsAreRead) {
  const S3Error error =
      parse_s3_error("<Error><Code>NoSuchKey</Code><Message>no &lt;key&gt;</Message></Error>");
  EXPECT_EQ(error.code, "NoSuchKey");
  EXPECT_EQ(error.message, "no <key>");
  EXPECT_EQ(parse_s3_error("<html>Bad Gateway</html>").code, "");
  EXPECT_EQ(parse_s3_error("").code, "");
  EXPECT_EQ(*parse_upload_id("<InitiateMultipartUploadResult><UploadId>a&amp;b</UploadId>"
                             "</InitiateMultipartUploadResult>"),
            "a&b");
  EXPECT_FALSE(parse_upload_id("<InitiateMultipartUploadResult/>"));
  EXPECT_EQ(complete_upload_xml({"\"e\"", "<&"}),
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>&quot;e&quot;</ETag>"
            "</Part><Part><PartNumber>2</PartNumber><ETag>&lt;&amp;</ETag></Part>"
            "</CompleteMultipartUpload>");
}

}  // namespace
}  // namespace sibyl::net::internal
