// The model server over gRPC: Seldon's services and the Open Inference Protocol's.
#include <algorithm>
#include <chrono>
#include <future>
#include <thread>

#include <open_inference.grpc.pb.h>
#include <seldon.grpc.pb.h>

#include "base/bytes.h"
#include "model_server_fixture.h"
#include "net/sha256.h"

namespace sibyl::server {
namespace {

using seldon::protos::SeldonMessage;

SeldonMessage rows_message(const std::vector<std::string>& texts) {
  SeldonMessage message;
  auto& rows = *message.mutable_data()->mutable_ndarray();
  for (const std::string& text : texts) {
    rows.add_values()->mutable_list_value()->add_values()->set_string_value(text);
  }
  return message;
}

std::vector<float> floats_of(const google::protobuf::ListValue& list) {
  std::vector<float> out;
  for (const auto& value : list.values()) {
    out.push_back(static_cast<float>(value.number_value()));
  }
  return out;
}

inference::ModelInferRequest infer_request(const std::vector<std::string>& texts) {
  inference::ModelInferRequest request;
  request.set_model_name("m");
  request.set_id("7");
  auto& input = *request.add_inputs();
  input.set_name("text");
  input.set_datatype("BYTES");
  input.add_shape(static_cast<int64_t>(texts.size()));
  for (const std::string& text : texts) {
    input.mutable_contents()->add_bytes_contents(text);
  }
  return request;
}

class ModelServerGrpcTest : public ModelServerTest {
 protected:
  grpc::Status predict(const SeldonMessage& request, SeldonMessage& reply) {
    grpc::ClientContext context;
    return seldon::protos::Model::NewStub(channel())->Predict(&context, request, &reply);
  }
  grpc::Status infer(const inference::ModelInferRequest& request,
                     inference::ModelInferResponse& reply, const std::string& key = {}) {
    grpc::ClientContext context;
    if (!key.empty()) {
      context.AddMetadata("authorization", "Bearer " + key);
    }
    return inference::GRPCInferenceService::NewStub(channel())->ModelInfer(&context, request,
                                                                           &reply);
  }
};

TEST_F(ModelServerGrpcTest, QuestionsGetTheModelsPromptForQuestions) {
  options_.model_server.models = {{"m", test_model("xlm-roberta")}};
  start();
  SeldonMessage request = rows_message(kTexts);
  SeldonMessage documents;
  SeldonMessage questions;
  ASSERT_TRUE(predict(request, documents).ok());
  (*request.mutable_meta()->mutable_tags())["kind"].set_string_value("question");
  ASSERT_TRUE(predict(request, questions).ok());
  EXPECT_NE(floats_of(documents.data().ndarray().values(0).list_value().values(0).list_value()),
            floats_of(questions.data().ndarray().values(0).list_value().values(0).list_value()));
  auto tensor = infer_request(kTexts);
  inference::ModelInferResponse reply;
  ASSERT_TRUE(infer(tensor, reply).ok());
  const auto of_documents = reply.outputs(0).contents().fp32_contents();
  (*tensor.mutable_parameters())["kind"].set_string_param("question");
  ASSERT_TRUE(infer(tensor, reply).ok());
  const auto of_questions = reply.outputs(0).contents().fp32_contents();
  EXPECT_FALSE(std::ranges::equal(of_documents, of_questions));
  const auto rows = questions.data().ndarray().values(0).list_value().values(0).list_value();
  EXPECT_EQ(floats_of(rows).front(), of_questions[0]);
}

TEST_F(ModelServerGrpcTest, CallsAboveTheBoundAreRefusedAndHttpIsNot) {
  where_.grpc_calls_max = 0;
  start();
  SeldonMessage reply;
  const grpc::Status status = predict(rows_message(kTexts), reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(status.error_message().find("grpc_calls_max"), std::string::npos);
  EXPECT_EQ(embeddings(kTexts).size(), 3U);
}

TEST_F(ModelServerGrpcTest, CallsThatEndedCountNoMore) {
  where_.grpc_calls_max = 1;
  start();
  for (int i = 0; i < 3; ++i) {
    SeldonMessage reply;
    EXPECT_TRUE(predict(rows_message(kTexts), reply).ok());
  }
}

TEST_F(ModelServerGrpcTest, SeldonGivesTheVectors) {
  start();
  const auto expected = embeddings(kTexts);
  SeldonMessage request = rows_message(kTexts);
  request.mutable_meta()->set_puid("7");
  SeldonMessage reply;
  ASSERT_TRUE(predict(request, reply).ok());
  EXPECT_EQ(reply.data().names(0), "vector");
  EXPECT_EQ(reply.meta().puid(), "7");
  EXPECT_EQ(reply.meta().tags().at("model").string_value(), "m");
  EXPECT_EQ(reply.meta().tags().at("version").string_value(), "1");
  ASSERT_EQ(reply.data().ndarray().values_size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(floats_of(reply.data().ndarray().values(i).list_value().values(0).list_value()),
              expected[static_cast<size_t>(i)]);
  }
  SeldonMessage text;
  text.set_strdata(kTexts[2]);
  grpc::ClientContext context;
  ASSERT_TRUE(seldon::protos::Seldon::NewStub(channel())->Predict(&context, text, &reply).ok());
  EXPECT_EQ(floats_of(reply.data().ndarray().values(0).list_value().values(0).list_value()),
            expected[2]);
  SeldonMessage json;
  (*json.mutable_jsondata()->mutable_struct_value()->mutable_fields())["texts"]
      .mutable_list_value()
      ->add_values()
      ->set_string_value(kTexts[0]);
  ASSERT_TRUE(predict(json, reply).ok());
  const auto& vectors = reply.jsondata().struct_value().fields().at("vectors").list_value();
  EXPECT_EQ(floats_of(vectors.values(0).list_value()), expected[0]);
}

TEST_F(ModelServerGrpcTest, SeldonRefusesWhatHoldsNoText) {
  start();
  SeldonMessage reply;
  SeldonMessage tensor;
  tensor.mutable_data()->mutable_tensor()->add_values(1);
  const grpc::Status refused = predict(tensor, reply);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(refused.error_message().find("data.tensor"), std::string::npos);
  SeldonMessage number;
  number.mutable_data()->mutable_ndarray()->add_values()->set_number_value(1);
  SeldonMessage bytes;
  bytes.set_bindata("a");
  SeldonMessage json;
  json.mutable_jsondata()->set_string_value("a");
  for (const SeldonMessage& message : {SeldonMessage(), number, bytes, json, rows_message({}),
                                       rows_message(std::vector<std::string>(2049))}) {
    EXPECT_EQ(predict(message, reply).error_code(), grpc::StatusCode::INVALID_ARGUMENT)
        << message.ShortDebugString().substr(0, 100);
  }
}

TEST_F(ModelServerGrpcTest, SeldonsOtherCallsAnswer) {
  start();
  const auto model = seldon::protos::Model::NewStub(channel());
  const auto client = seldon::protos::Seldon::NewStub(channel());
  seldon::protos::SeldonModelMetadata metadata;
  grpc::ClientContext first;
  ASSERT_TRUE(model->Metadata(&first, {}, &metadata).ok());
  EXPECT_EQ(metadata.name(), "m");
  EXPECT_EQ(metadata.inputs(0).messagetype(), "ndarray");
  seldon::protos::SeldonModelMetadataRequest named;
  named.set_name("node");
  grpc::ClientContext second;
  EXPECT_TRUE(client->ModelMetadata(&second, named, &metadata).ok());
  named.set_name("absent");
  grpc::ClientContext third;
  EXPECT_EQ(client->ModelMetadata(&third, named, &metadata).error_code(),
            grpc::StatusCode::NOT_FOUND);
  seldon::protos::SeldonGraphMetadata graph;
  grpc::ClientContext fourth;
  ASSERT_TRUE(client->GraphMetadata(&fourth, {}, &graph).ok());
  EXPECT_EQ(graph.models().at("m").versions(0), "1");
  seldon::protos::Feedback feedback;
  feedback.set_reward(1);
  SeldonMessage reply;
  grpc::ClientContext fifth;
  EXPECT_TRUE(model->SendFeedback(&fifth, feedback, &reply).ok());
}

TEST_F(ModelServerGrpcTest, InferenceGivesTheVectorsTypedAndRaw) {
  start();
  const auto expected = embeddings(kTexts);
  std::vector<float> flat;
  for (const auto& vector : expected) {
    flat.insert(flat.end(), vector.begin(), vector.end());
  }
  inference::ModelInferRequest request = infer_request(kTexts);
  inference::ModelInferResponse reply;
  ASSERT_TRUE(infer(request, reply).ok());
  EXPECT_EQ(reply.model_name(), "m");
  EXPECT_EQ(reply.model_version(), "1");
  EXPECT_EQ(reply.id(), "7");
  EXPECT_EQ(reply.outputs(0).shape(0), 3);
  const auto& typed = reply.outputs(0).contents().fp32_contents();
  EXPECT_EQ(std::vector<float>(typed.begin(), typed.end()), flat);
  request.mutable_inputs(0)->clear_contents();
  std::string& raw = *request.add_raw_input_contents();
  for (const std::string& text : kTexts) {
    base::put_u32(raw, static_cast<uint32_t>(text.size()));
    raw += text;
  }
  reply.Clear();
  ASSERT_TRUE(infer(request, reply).ok());
  ASSERT_EQ(reply.raw_output_contents_size(), 1);
  base::ByteReader reader(reply.raw_output_contents(0));
  for (const float value : flat) {
    EXPECT_EQ(reader.f32(), value);
  }
  EXPECT_TRUE(reader.ok() && reader.left() == 0);
}

TEST_F(ModelServerGrpcTest, InferenceRefusesWhatIsWrong) {
  start();
  inference::ModelInferResponse reply;
  std::vector<inference::ModelInferRequest> wrong(9, infer_request({"a"}));
  wrong[0].clear_inputs();
  *wrong[1].add_inputs() = wrong[1].inputs(0);
  wrong[2].mutable_inputs(0)->set_shape(0, 2);
  wrong[3].mutable_inputs(0)->set_datatype("FP32");
  wrong[4].mutable_inputs(0)->set_name("x");
  wrong[5].add_raw_input_contents("abc");
  wrong[6].mutable_inputs(0)->clear_contents();
  wrong[6].add_raw_input_contents("abc");
  wrong[7].mutable_inputs(0)->mutable_contents()->set_bytes_contents(0, "\xff");
  wrong[8].add_outputs()->set_name("x");
  for (const auto& request : wrong) {
    EXPECT_EQ(infer(request, reply).error_code(), grpc::StatusCode::INVALID_ARGUMENT)
        << request.ShortDebugString();
  }
  inference::ModelInferRequest absent = infer_request({"a"});
  absent.set_model_name("absent");
  EXPECT_EQ(infer(absent, reply).error_code(), grpc::StatusCode::NOT_FOUND);
  absent.set_model_name("m");
  absent.set_model_version("2");
  EXPECT_EQ(infer(absent, reply).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ModelServerGrpcTest, InferenceDescribesItself) {
  start();
  const auto stub = inference::GRPCInferenceService::NewStub(channel());
  inference::ServerLiveResponse live;
  inference::ServerReadyResponse ready;
  inference::ServerMetadataResponse server;
  inference::ModelMetadataResponse model;
  inference::ModelReadyResponse model_ready;
  grpc::ClientContext contexts[6];
  EXPECT_TRUE(stub->ServerLive(&contexts[0], {}, &live).ok() && live.live());
  EXPECT_TRUE(stub->ServerReady(&contexts[1], {}, &ready).ok() && ready.ready());
  EXPECT_TRUE(stub->ServerMetadata(&contexts[2], {}, &server).ok());
  EXPECT_EQ(server.name(), "sibyl");
  inference::ModelMetadataRequest named;
  named.set_name("node");
  ASSERT_TRUE(stub->ModelMetadata(&contexts[3], named, &model).ok());
  EXPECT_EQ(model.inputs(0).datatype(), "BYTES");
  EXPECT_EQ(model.outputs(0).name(), "vector");
  inference::ModelReadyRequest asked;
  asked.set_name("m");
  EXPECT_TRUE(stub->ModelReady(&contexts[4], asked, &model_ready).ok() && model_ready.ready());
  asked.set_name("absent");
  EXPECT_EQ(stub->ModelReady(&contexts[5], asked, &model_ready).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(ModelServerGrpcTest, KeysAndLimitsHoldHereToo) {
  const base::TemporaryDirectory folder;
  options_.api_keys_file = base::join_path(folder.path(), "keys");
  ASSERT_TRUE(base::replace_file(
      options_.api_keys_file,
      base::dump_json({{"name", "ci"}, {"sha256", net::sha256_hex("secret")}}) + "\n"));
  where_.body_bytes_max = 10'000;
  start();
  inference::ModelInferResponse reply;
  EXPECT_EQ(infer(infer_request({"a"}), reply).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(infer(infer_request({"a"}), reply, "wrong").error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(infer(infer_request({"a"}), reply, "secret").ok());
  EXPECT_EQ(infer(infer_request({std::string(20'000, 'x')}), reply, "secret").error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(ModelServerGrpcTest, APortInUseIsNamed) {
  start();
  where_.grpc = listener_->grpc_address();
  const auto second = Listener::start(*application_, where_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::Unavailable);
  EXPECT_NE(second.error().message.find(where_.grpc), std::string::npos);
}

TEST_F(ModelServerGrpcTest, ManyCallsAtOnceAllGetTheirOwnVectors) {
  start();
  const auto expected = embeddings(kTexts);
  const auto shared = channel();
  std::vector<std::future<bool>> calls;
  for (size_t i = 0; i < 32; ++i) {
    calls.push_back(std::async(std::launch::async, [&, i] {
      grpc::ClientContext context;
      inference::ModelInferResponse reply;
      const size_t text = i % kTexts.size();
      const auto status = inference::GRPCInferenceService::NewStub(shared)->ModelInfer(
          &context, infer_request({kTexts[text]}), &reply);
      const auto& got = reply.outputs(0).contents().fp32_contents();
      return status.ok() && std::vector<float>(got.begin(), got.end()) == expected[text];
    }));
  }
  for (auto& call : calls) {
    EXPECT_TRUE(call.get());
  }
}

/// One length-delimited field, as the wire has it; numbers below 16, less than 128 bytes.
std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         std::string(1, static_cast<char>(bytes.size())) + bytes;
}

// The messages were written from the protocols' field numbers: bytes put together by hand.
TEST(ModelServerWire, InferenceHasTheFieldNumbersOfTheProtocol) {
  inference::ModelInferRequest request;
  ASSERT_TRUE(
      request.ParseFromString(field(1, "m") + field(2, "3") + field(3, "i") +
                              field(5, field(1, "text") + field(2, "BYTES") + field(3, "\x02") +
                                           field(5, field(8, "a") + field(8, "b"))) +
                              field(6, field(1, "vector")) + field(7, "raw")));
  EXPECT_EQ(request.model_name() + request.model_version() + request.id(), "m3i");
  EXPECT_EQ(request.inputs(0).name() + request.inputs(0).datatype(), "textBYTES");
  EXPECT_EQ(request.inputs(0).shape(0), 2);
  EXPECT_EQ(request.inputs(0).contents().bytes_contents(1), "b");
  EXPECT_EQ(request.outputs(0).name(), "vector");
  EXPECT_EQ(request.raw_input_contents(0), "raw");
  inference::ModelInferResponse reply;
  reply.set_model_name("m");
  reply.set_model_version("3");
  reply.set_id("i");
  auto& output = *reply.add_outputs();
  output.set_name("vector");
  output.set_datatype("FP32");
  output.add_shape(1);
  output.mutable_contents()->add_fp32_contents(1.0F);
  reply.add_raw_output_contents("raw");
  EXPECT_EQ(reply.SerializeAsString(),
            field(1, "m") + field(2, "3") + field(3, "i") +
                field(5, field(1, "vector") + field(2, "FP32") + field(3, "\x01") +
                             field(5, field(6, std::string("\0\0\x80\x3f", 4)))) +
                field(6, "raw"));
}

TEST(ModelServerWire, SeldonHasTheFieldNumbersOfTheProtocol) {
  SeldonMessage message;
  ASSERT_TRUE(message.ParseFromString(field(2, field(1, "p")) + field(5, "one")));
  EXPECT_EQ(message.meta().puid() + message.strdata(), "pone");
  // data.ndarray: a ListValue (values = 1) of Values (string_value = 3)
  ASSERT_TRUE(
      message.ParseFromString(field(3, field(1, "text") + field(3, field(1, field(3, "row"))))));
  EXPECT_EQ(message.data().names(0), "text");
  EXPECT_EQ(message.data().ndarray().values(0).string_value(), "row");
  ASSERT_TRUE(message.ParseFromString(field(3, field(4, "tensorflow"))));
  EXPECT_EQ(message.data().data_oneof_case(), seldon::protos::DefaultData::DATA_ONEOF_NOT_SET);
  SeldonMessage reply;
  reply.mutable_status()->set_info("i");
  reply.mutable_jsondata()->set_string_value("j");
  (*reply.mutable_meta()->mutable_tags())["t"].set_string_value("v");
  EXPECT_EQ(reply.SerializeAsString(),
            field(1, field(2, "i")) + field(2, field(2, field(1, "t") + field(2, field(3, "v")))) +
                field(6, field(3, "j")));
}

}  // namespace
}  // namespace sibyl::server
