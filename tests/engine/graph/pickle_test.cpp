#include "engine/graph/pickle.h"
#include "engine/graph/saved_tensors.h"
#include "tests/engine/graph/archive_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine::graph {
namespace {

using testing::bytesOf;
using ::testing::HasSubstr;
using testing::writtenArchive;
using testing::writtenTensors;
using Kind = PickleValue::Kind;

Result<Pickle> read(std::string_view bytes) {
    return readPickle(std::as_bytes(std::span(bytes)), "here");
}

SharedBytes shared(const std::string& bytes) {
    auto kept = std::make_shared<std::string>(bytes);
    return {std::as_bytes(std::span(*kept)), kept};
}

/// Why torch.save's file with this pickle, and four bytes of storage 0, is not read.
std::string whyNot(const std::string& pickle) {
    const auto tensors = readSavedTensors(
        shared(writtenArchive({{"archive/data.pkl", pickle}, {"archive/data/0", "1234"}})), "here");
    EXPECT_FALSE(tensors);
    return tensors ? std::string() : tensors.error().what;
}

TEST(Pickle, ReadsValues) {
    using namespace std::string_view_literals;
    const auto pickle = read("\x80\x02(K\x05M\x01\x02J\xff\xff\xff\xff\x8a\x02\x00\x80\x8a\x00"
                             "G\x3f\xf8\x00\x00\x00\x00\x00\x00X\x02\x00\x00\x00hiN\x88\x89t."sv);
    ASSERT_TRUE(pickle) << pickle.error().describe();
    const PickleValue& root = pickle->at(pickle->root);
    ASSERT_EQ(root.kind, Kind::Tuple);
    ASSERT_EQ(root.items.size(), 10u);
    const auto item = [&](std::size_t i) -> const PickleValue& {
        return pickle->at(root.items[i]);
    };
    EXPECT_EQ(item(0).integer, 5);
    EXPECT_EQ(item(1).integer, 0x201);
    EXPECT_EQ(item(2).integer, -1);
    EXPECT_EQ(item(3).integer, -32768);
    EXPECT_EQ(item(4).integer, 0);
    EXPECT_EQ(item(5).number, 1.5);
    EXPECT_EQ(item(6).text, "hi");
    EXPECT_EQ(item(7).kind, Kind::None);
    EXPECT_EQ(item(8).integer, 1);
    EXPECT_EQ(item(9).kind, Kind::Bool);
}

TEST(Pickle, ReadsListsDictionariesAndItsMemory) {
    using namespace std::string_view_literals;
    // {"a": [1, [1]]} where the inner list is the memory's
    const auto pickle = read("}X\x01\x00\x00\x00"
                             "a](K\x01]q\x07K\x01"
                             "ah\x07"
                             "0es."sv);
    ASSERT_TRUE(pickle) << pickle.error().describe();
    const PickleValue& root = pickle->at(pickle->root);
    ASSERT_EQ(root.kind, Kind::Dictionary);
    ASSERT_EQ(root.items.size(), 2u);
    const PickleValue& list = pickle->at(root.items[1]);
    ASSERT_EQ(list.items.size(), 2u);
    EXPECT_EQ(pickle->at(list.items[1]).kind, Kind::List);
}

TEST(Pickle, RefusesWhatTorchDoesNotWrite) {
    for (const std::string_view bytes : {"",
                                         "K",
                                         "N",
                                         ".",
                                         "0.",
                                         "t.",
                                         "u.",
                                         "a.",
                                         "NNa.",
                                         "h\x01.",
                                         "Q.",
                                         "R.",
                                         "NNR.",
                                         "b.",
                                         "(0.",
                                         "\x81.",
                                         "c\n",
                                         "\x93.",
                                         "\x8a\x09",
                                         "X\xff\xff\xff\xff",
                                         "}(Nu.",
                                         "\x8c\x05"
                                         "ab"}) {
        const auto pickle = read(bytes);
        ASSERT_FALSE(pickle) << bytes;
        EXPECT_EQ(pickle.error().kind, ErrorKind::InvalidInput);
        EXPECT_EQ(pickle.error().where, "here");
    }
    EXPECT_THAT(read("\x81.").error().what, HasSubstr("0x81"));
}

TEST(Pickle, HasABoundOfValues) {
    EXPECT_THAT(read(std::string(1'000'001, 'N') + ".").error().what, HasSubstr("more than"));
    // One value, a million times on the stack.
    std::string twice = "Nq";
    twice += '\0';
    for (int i = 0; i < 1'000'001; ++i)
        twice += std::string_view("h\0", 2);
    EXPECT_THAT(read(twice + ".").error().what, HasSubstr("more than"));
}

TEST(SavedTensors, ReadsADictionary) {
    const std::string file = writtenTensors(
        {{"a", {2, 3}, bytesOf({1, 2, 3, 4, 5, 6})}, {"b", {}, bytesOf({7})}, {"c", {0, 2}, ""}});
    const auto saved = readSavedTensors(shared(file), "here");
    ASSERT_TRUE(saved) << saved.error().describe();
    ASSERT_EQ(saved->tensors.size(), 3u);
    const auto& [name, tensor] = saved->tensors[0];
    EXPECT_EQ(name, "a");
    EXPECT_EQ(tensor.type.element, ElementType::Float32);
    EXPECT_EQ(tensor.type.sizes, (std::vector<Extent>{{2, {}}, {3, {}}}));
    EXPECT_EQ(tensor.type.strides, (std::vector<Extent>{{3, {}}, {1, {}}}));
    EXPECT_EQ(textOf(SharedBytes{tensor.bytes, nullptr}), bytesOf({1, 2, 3, 4, 5, 6}));
    EXPECT_TRUE(saved->tensors[1].second.type.sizes.empty());
    EXPECT_TRUE(saved->tensors[2].second.bytes.empty());
}

TEST(SavedTensors, NamesWhatItDoesNotCall) {

    std::string call = "cos\nsystem\nX";
    call += std::string_view("\2\0\0\0ls\x85R.", 9);
    EXPECT_THAT(whyNot(call), HasSubstr("'os.system'"));
    EXPECT_THAT(whyNot("cbuiltins\neval\n."), HasSubstr("'builtins.eval'"));
}

TEST(SavedTensors, RefusesTensorsBeyondTheirStorage) {
    const std::string file = writtenTensors({{"a", {2}, bytesOf({1})}});
    const auto saved = readSavedTensors(shared(file), "here");
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().what, HasSubstr("needs 8 bytes of its storage, which has 4"));
}

TEST(SavedTensors, EndsInListsThatContainThemselves) {
    using namespace std::string_view_literals;
    EXPECT_THAT(whyNot(std::string("]q\x01h\x01"
                                   "a."sv)),
                HasSubstr("too deeply"));
    // Twice the list before, thirty times: 2^30 visits if they were not counted.
    std::string bomb = "]";
    for (char i = 1; i < 31; ++i) {
        bomb += 'q';
        bomb += i;
        bomb += "](h";
        bomb += i;
        bomb += 'h';
        bomb += i;
        bomb += 'e';
    }
    EXPECT_THAT(whyNot(bomb + "."), HasSubstr("too deeply"));
}

TEST(SavedTensors, IsRefusedWhereverThePickleIsCutOff) {
    const std::string file = writtenTensors({{"a", {2}, bytesOf({1, 2})}});
    const std::size_t begin = file.find("\x80\x02}");
    const std::string pickle = file.substr(begin, file.find("PK", begin) - begin);
    for (std::size_t length = 0; length < pickle.size(); ++length)
        EXPECT_FALSE(read(pickle.substr(0, length))) << length;
    EXPECT_TRUE(read(pickle));
}

} // namespace
} // namespace kernelskill::engine::graph
