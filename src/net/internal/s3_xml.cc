#include "net/internal/s3_xml.h"

#include <charconv>
#include <memory>

#include <libxml/parser.h>
#include <libxml/tree.h>

namespace sibyl::net::internal {
namespace {

constexpr size_t kKeyBytesMax = 1024;
constexpr size_t kTokenBytesMax = 4096;

struct DocumentClose {
  void operator()(xmlDoc* document) const { xmlFreeDoc(document); }
};
using Document = std::unique_ptr<xmlDoc, DocumentClose>;

Document parse(std::string_view xml) {
  static const bool initialised = (xmlInitParser(), true);
  if (!initialised || xml.size() > kXmlBytesMax) {
    return nullptr;
  }
  Document document(
      xmlReadMemory(xml.data(), static_cast<int>(xml.size()), nullptr, nullptr,
                    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA));
  if (document != nullptr && document->intSubset != nullptr) {
    return nullptr;  // a store sends no document type: entities are declared there
  }
  return document;
}

std::string_view name_of(const xmlNode* node) {
  return node->name == nullptr ? std::string_view()
                               : std::string_view(reinterpret_cast<const char*>(node->name));
}

// The text directly inside an element.
std::string text_of(const xmlNode* node) {
  std::string text;
  for (const xmlNode* child = node->children; child != nullptr; child = child->next) {
    if (child->type == XML_TEXT_NODE && child->content != nullptr) {
      text += reinterpret_cast<const char*>(child->content);
    }
  }
  return text;
}

const xmlNode* child_named(const xmlNode* node, std::string_view name) {
  const xmlNode* child = node == nullptr ? nullptr : node->children;
  while (child != nullptr && (child->type != XML_ELEMENT_NODE || name_of(child) != name)) {
    child = child->next;
  }
  return child;
}

std::string child_text(const xmlNode* node, std::string_view name) {
  const xmlNode* const child = child_named(node, name);
  return child == nullptr ? std::string() : text_of(child);
}

const xmlNode* root_named(const Document& document, std::string_view name) {
  const xmlNode* const root = document == nullptr ? nullptr : xmlDocGetRootElement(document.get());
  return root != nullptr && name_of(root) == name ? root : nullptr;
}

Result<ObjectInfo> parse_object(const xmlNode* node) {
  ObjectInfo object;
  object.key = child_text(node, "Key");
  if (object.key.empty() || object.key.size() > kKeyBytesMax) {
    return fail(Code::InvalidData, "the store's listing has a key of {} bytes; 1 to {} are allowed",
                object.key.size(), kKeyBytesMax);
  }
  const std::string size = child_text(node, "Size");
  const auto read = std::from_chars(size.data(), size.data() + size.size(), object.bytes);
  if (read.ec != std::errc() || read.ptr != size.data() + size.size()) {
    return fail(Code::InvalidData, "the store's listing gives '{}' the size '{}'", object.key,
                size.substr(0, 40));
  }
  object.etag = child_text(node, "ETag");
  return object;
}

}  // namespace

Result<ListPage> parse_list_page(std::string_view xml) {
  const Document document = parse(xml);
  const xmlNode* const root = root_named(document, "ListBucketResult");
  if (root == nullptr) {
    return fail(Code::InvalidData, "the store's reply to a listing is no ListBucketResult");
  }
  ListPage page;
  for (const xmlNode* node = root->children; node != nullptr; node = node->next) {
    if (node->type == XML_ELEMENT_NODE && name_of(node) == "Contents") {
      auto object = parse_object(node);
      if (!object) {
        return pass_on(object);
      }
      page.objects.push_back(std::move(*object));
    }
  }
  if (child_text(root, "IsTruncated") == "true") {
    page.next = child_text(root, "NextContinuationToken");
    if (page.next.empty() || page.next.size() > kTokenBytesMax) {
      return fail(Code::InvalidData,
                  "the store's listing goes on, and its NextContinuationToken has {} bytes",
                  page.next.size());
    }
  }
  return page;
}

Result<std::string> parse_upload_id(std::string_view xml) {
  const Document document = parse(xml);
  const xmlNode* const root = root_named(document, "InitiateMultipartUploadResult");
  std::string id = root == nullptr ? std::string() : child_text(root, "UploadId");
  if (id.empty() || id.size() > kTokenBytesMax) {
    return fail(Code::InvalidData, "the store's reply to a multipart upload has no UploadId");
  }
  return id;
}

S3Error parse_s3_error(std::string_view xml) {
  const Document document = parse(xml);
  const xmlNode* const root = root_named(document, "Error");
  if (root == nullptr) {
    return {};
  }
  return {child_text(root, "Code").substr(0, 100), child_text(root, "Message").substr(0, 500)};
}

RoleCredentials parse_role_reply(std::string_view xml) {
  const Document document = parse(xml);
  const xmlNode* const root = root_named(document, "AssumeRoleWithWebIdentityResponse");
  const xmlNode* const result = child_named(root, "AssumeRoleWithWebIdentityResult");
  const xmlNode* const keys = child_named(result, "Credentials");
  if (keys == nullptr) {
    return {};
  }
  return {child_text(keys, "AccessKeyId"), child_text(keys, "SecretAccessKey"),
          child_text(keys, "SessionToken"), child_text(keys, "Expiration")};
}

std::string complete_upload_xml(const std::vector<std::string>& etags) {
  std::string xml = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < etags.size(); ++i) {
    std::string etag;
    for (const char c : etags[i]) {
      etag += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
    }
    xml += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1, etag);
  }
  return xml + "</CompleteMultipartUpload>";
}

}  // namespace sibyl::net::internal
