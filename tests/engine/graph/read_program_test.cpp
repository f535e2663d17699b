#include "analysis/source/json.h"
#include "engine/graph/limitations.h"
#include "engine/graph/read_program.h"
#include "engine/graph/tensor_extents.h"
#include "engine/graph/type_text.h"
#include "tests/engine/graph/archive_writer.h"
#include "tests/temporary_folder.h"
#include "tests/test_seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sys/resource.h>

namespace kernelskill::engine::graph {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::programPath;
using testing::readWhole;
using ::testing::SizeIs;
using testing::writtenArchive;
using testing::WrittenEntry;

const std::vector<std::string> programs = {"attention",   "bf16-product", "control-flow",
                                           "conv",        "lstm",         "mlp",
                                           "mlp-dynamic", "mutates",      "unusual-operators"};

Program readSound(const std::string& name) {
    auto program = readProgram(programPath(name + ".pt2"));
    EXPECT_TRUE(program) << program.error().describe();
    return program ? *std::move(program) : Program{};
}

Result<Program> readBytes(const std::string& bytes) {
    auto kept = std::make_shared<std::string>(bytes);
    auto archive = Archive::read({std::as_bytes(std::span(*kept)), kept}, "test.pt2");
    if (!archive)
        return std::unexpected(archive.error());
    return readProgram(*archive);
}

/// The elements by their places in the storage, as numbers.
std::vector<double> numbersOf(const TensorData& tensor) {
    const auto count = static_cast<std::size_t>(elementCount(tensor.type).value());
    std::vector<double> numbers;
    for (std::size_t index = 0; index < count; ++index) {
        std::size_t rest = index;
        auto place = static_cast<std::size_t>(tensor.type.offset.value);
        for (std::size_t i = tensor.type.sizes.size(); i-- > 0;) {
            const auto size = static_cast<std::size_t>(tensor.type.sizes[i].value);
            place += rest % size * static_cast<std::size_t>(tensor.type.strides[i].value);
            rest /= size;
        }
        const std::byte* at = tensor.bytes.data() + place * sizeOf(tensor.type.element);
        std::uint32_t bits = 0;
        if (tensor.type.element == ElementType::BFloat16) {
            std::uint16_t half = 0;
            std::memcpy(&half, at, sizeof half);
            bits = std::uint32_t{half} << 16;
        } else {
            std::memcpy(&bits, at, sizeof bits);
        }
        numbers.push_back(std::bit_cast<float>(bits));
    }
    return numbers;
}

/// The elements of nested lists, in order.
void flatten(const json& value, std::vector<double>& numbers) {
    if (!value.is_array()) {
        numbers.push_back(value.get<double>());
        return;
    }
    for (const json& element : value)
        flatten(element, numbers);
}

std::vector<double> numbersOf(const json& tensor) {
    std::vector<double> numbers;
    flatten(tensor["values"], numbers);
    return numbers;
}

TEST(ReadProgram, ReadsTheSampleInputsOfRealArchives) {
    for (const std::string& name : programs) {
        SCOPED_TRACE(name);
        const Program program = readSound(name);
        const json expected = json::parse(readWhole(programPath(name + ".json")))["inputs"];
        ASSERT_EQ(program.sampleInputs.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const TensorData& sample = program.sampleInputs[i];
            EXPECT_EQ("torch." + std::string(nameOf(sample.type.element)),
                      expected[i]["dtype"].get<std::string>());
            std::vector<std::int64_t> shape;
            for (const Extent& size : sample.type.sizes)
                shape.push_back(size.value);
            EXPECT_EQ(json(shape), expected[i]["shape"]);
            EXPECT_EQ(numbersOf(sample), numbersOf(expected[i]));
        }
        EXPECT_THAT(program.notes, IsEmpty());
        for (const auto& [weight, tensor] : program.tensors)
            EXPECT_NE(tensor.owner, nullptr) << weight;
    }
}

using Numbers = std::vector<double>;

/// Rows of x times the rows of the weight, plus the bias.
Numbers linear(const Numbers& x, const Numbers& weight, const Numbers& bias) {
    const std::size_t columns = weight.size() / bias.size();
    Numbers result;
    for (std::size_t row = 0; row < x.size() / columns; ++row)
        for (std::size_t i = 0; i < bias.size(); ++i) {
            double sum = bias[i];
            for (std::size_t k = 0; k < columns; ++k)
                sum += x[row * columns + k] * weight[i * columns + k];
            result.push_back(sum);
        }
    return result;
}

/// Computes the MLP from its weights. Its outputs show whether these are read as they were saved.
Numbers runMlp(const Program& program) {
    const auto weight = [&](const char* name) { return numbersOf(program.tensors.at(name)); };
    Numbers x = linear(numbersOf(program.sampleInputs[0]), weight("a.weight"), weight("a.bias"));
    const Numbers scale = weight("n.weight");
    const Numbers shift = weight("n.bias");
    const std::size_t width = scale.size();
    for (std::size_t row = 0; row < x.size(); row += width) {
        const std::span<double> part = std::span(x).subspan(row, width);
        const double mean = std::accumulate(part.begin(), part.end(), 0.0) / part.size();
        double variance = 0;
        for (const double v : part)
            variance += (v - mean) * (v - mean) / part.size();
        for (std::size_t i = 0; i < width; ++i) {
            const double v = (part[i] - mean) / std::sqrt(variance + 1e-5) * scale[i] + shift[i];
            part[i] = v / 2 * (1 + std::erf(v / std::sqrt(2.0)));
        }
    }
    Numbers y = linear(x, weight("b.weight"), weight("b.bias"));
    constexpr std::size_t classes = 10;
    for (std::size_t row = 0; row < y.size(); row += classes) {
        double sum = 0;
        for (std::size_t i = 0; i < classes; ++i)
            sum += y[row + i] = std::exp(y[row + i]);
        for (std::size_t i = 0; i < classes; ++i)
            y[row + i] /= sum;
    }
    return y;
}

void expectOutputOfMlp(const Program& program, const std::string& name) {
    const json expected = json::parse(readWhole(programPath(name + ".json")))["output"];
    const Numbers output = runMlp(program);
    const Numbers wanted = numbersOf(expected);
    ASSERT_EQ(output.size(), wanted.size());
    for (std::size_t i = 0; i < output.size(); ++i)
        EXPECT_NEAR(output[i], wanted[i], 1e-6) << i;
}

TEST(ReadProgram, ReadsWeightsThatGiveTheOutput) {
    for (const char* name : {"mlp", "mlp-dynamic"})
        expectOutputOfMlp(readSound(name), name);
}

TEST(ReadProgram, MapsWeights) {
    const Program program = readSound("mlp");
    const auto& weight = program.tensors.at("a.weight");
    EXPECT_EQ(weight.bytes.size(), 96u * 64 * 4);
    // All are in one mapping of the file.
    for (const auto& [name, tensor] : program.tensors) {
        EXPECT_EQ(tensor.owner, weight.owner) << name;
        EXPECT_LT(std::abs(tensor.bytes.data() - weight.bytes.data()), 50'000) << name;
    }
}

std::vector<std::string> sentences(const std::string& name) {
    std::vector<std::string> found;
    for (const Limitation& limitation : limitations(readSound(name)))
        found.push_back(std::string(nameOf(limitation.kind)) + ": " + limitation.sentence);
    return found;
}

TEST(ReadProgram, SaysWhatIsNotTakenOfRealArchives) {
    EXPECT_THAT(sentences("mlp"), IsEmpty());
    EXPECT_THAT(sentences("mlp-dynamic"), IsEmpty());
    EXPECT_THAT(sentences("mutates"),
                ElementsAre("mutation: node 'add_' (aten.add_.Tensor) mutates the buffer 'seen'"));
    EXPECT_THAT(sentences("unusual-operators"),
                ElementsAre(AllOf(HasSubstr("unknown-operator"), HasSubstr("aten.fft_rfft")),
                            AllOf(HasSubstr("unknown-operator"), HasSubstr("bessel_j0"))));
    EXPECT_THAT(sentences("control-flow"),
                ElementsAre(HasSubstr("aten.sum.default"), HasSubstr("aten.gt.Scalar"),
                            AllOf(HasSubstr("control-flow: node 'cond' (higher_order.cond)"),
                                  HasSubstr("true_graph_0"))));
    EXPECT_THAT(sentences("conv"), IsEmpty());
}

/// The entries of mlp.pt2, to be changed and written again.
class ChangedArchive : public ::testing::Test {
protected:
    void SetUp() override {
        auto archive = Archive::open(programPath("mlp.pt2"));
        ASSERT_TRUE(archive);
        for (const std::string_view name : archive->entriesEndingWith(""))
            entries.push_back({std::string(name), std::string(textOf(*archive->data(name)))});
    }
    WrittenEntry& entry(const std::string& end) {
        return *std::ranges::find_if(
            entries, [&](const WrittenEntry& one) { return one.name.ends_with(end); });
    }
    [[nodiscard]] Result<Program> read() const { return readBytes(writtenArchive(entries)); }
    [[nodiscard]] Error error() const {
        const auto program = read();
        EXPECT_FALSE(program);
        return program ? Error{} : program.error();
    }
    void changeConfig(const std::string& pointer, const json& value) {
        WrittenEntry& config = entry("weights_config.json");
        json document = json::parse(config.data);
        document["config"][json::json_pointer(pointer)] = value;
        config.data = document.dump();
    }

    std::vector<WrittenEntry> entries;
};

TEST_F(ChangedArchive, IsReadAsItWas) {
    const auto program = read();
    ASSERT_TRUE(program) << program.error().describe();
    expectOutputOfMlp(*program, "mlp");
}

TEST_F(ChangedArchive, IsReadDeflated) {
    for (WrittenEntry& one : entries) {
        one.isDeflated = true;
        one.method = 8;
    }
    const auto program = read();
    ASSERT_TRUE(program) << program.error().describe();
    expectOutputOfMlp(*program, "mlp");
}

TEST_F(ChangedArchive, NamesTheWeightThatIsShortOrAbsent) {
    entry("weight_0").data.resize(100);
    EXPECT_THAT(error().where, HasSubstr("tensor 'a.weight'"));
    EXPECT_THAT(error().what, HasSubstr("needs 24576 bytes of its storage, which has 100"));
    changeConfig("/a.weight/path_name", "weight_99");
    EXPECT_THAT(error().where, HasSubstr("weight_99"));
    // A path is a name of an entry and nothing else.
    changeConfig("/a.weight/path_name", "../../../../etc/passwd");
    EXPECT_THAT(error().what, HasSubstr("lacks this entry"));
}

TEST_F(ChangedArchive, NamesTheWeightThatIsNotOfTheGraph) {
    changeConfig("/a.bias/tensor_meta/sizes/0/as_int", 48);
    EXPECT_THAT(error().what, HasSubstr("float32[48], where the graph has float32[96]"));
    changeConfig("/a.bias/tensor_meta/sizes/0/as_int", 96);
    changeConfig("/a.bias/tensor_meta/storage_offset/as_int", 1);
    EXPECT_THAT(error().what, HasSubstr("needs 388 bytes"));
    changeConfig("/a.bias/tensor_meta/storage_offset/as_int", std::int64_t{1} << 62);
    EXPECT_THAT(error().what, HasSubstr("more elements than can be addressed"));
}

TEST_F(ChangedArchive, SaysWhichWeightsHaveNoData) {
    changeConfig("/a.weight/use_pickle", true);
    entry("weight_1").data.clear();
    entry("/weight_1").data.clear();
    const auto program = read();
    ASSERT_TRUE(program) << program.error().describe();
    EXPECT_EQ(program->tensors.at("a.weight").owner, nullptr);
    EXPECT_THAT(program->notes, ElementsAre(HasSubstr("'a.weight' is left out: it is pickled"),
                                            HasSubstr("2 of 6")));
    EXPECT_THAT(limitations(*program), SizeIs(2));
}

TEST_F(ChangedArchive, LeavesOutSampleInputsThatItCannotRead) {
    entry("sample_inputs/model.pt").data = "no archive";
    auto program = read();
    ASSERT_TRUE(program) << program.error().describe();
    EXPECT_THAT(program->sampleInputs, IsEmpty());
    EXPECT_THAT(program->notes, ElementsAre(HasSubstr("the sample inputs are left out")));
    entry("sample_inputs/model.pt").data =
        testing::writtenTensors({{"x", {7, 63}, std::string(7 * 63 * 4, '\0')}});
    program = read();
    ASSERT_TRUE(program);
    EXPECT_THAT(program->notes, ElementsAre(HasSubstr("float32[7, 63], where the graph has")));
}

TEST_F(ChangedArchive, ChoosesTheModelByItsName) {
    WrittenEntry other = entry("models/model.json");
    other.name = "mlp/models/decoder.json";
    entries.push_back(other);
    EXPECT_TRUE(read());
    entry("models/model.json").name = "mlp/models/encoder.json";
    EXPECT_THAT(error().what, AllOf(HasSubstr("several programs"), HasSubstr("decoder.json")));
    std::erase_if(entries, [](const WrittenEntry& one) {
        return one.name.find("models/") != std::string::npos;
    });
    EXPECT_THAT(error().what, HasSubstr("no program of torch.export"));
}

TEST_F(ChangedArchive, HasNoControlCharactersInItsErrors) {
    WrittenEntry& graph = entry("models/model.json");
    json document = json::parse(graph.data);
    document["graph_module"]["graph"]["nodes"][0]["target"] = "\x1b[2J.x";
    graph.data = document.dump();
    EXPECT_THAT(error().what, HasSubstr("'?[2J.x'"));
}

/// The layout of torch 2.6 and 2.7: four files, tensors in dictionaries of torch.save.
TEST_F(ChangedArchive, IsReadInTheLayoutOfOlderTorch) {
    const Program saved = readSound("mlp");
    std::vector<testing::WrittenTensor> weights;
    for (const auto& [name, tensor] : saved.tensors) {
        std::vector<std::uint16_t> sizes;
        for (const Extent& size : tensor.type.sizes)
            sizes.push_back(static_cast<std::uint16_t>(size.value));
        weights.push_back({name, sizes, std::string(textOf(SharedBytes{tensor.bytes, nullptr}))});
    }
    json graph = json::parse(entry("models/model.json").data);
    graph["schema_version"] = {{"major", 8}, {"minor", 2}};
    for (json& node : graph["graph_module"]["graph"]["nodes"]) {
        node.erase("name");
        node.erase("is_hop_single_tensor_return");
    }
    const auto old = readBytes(
        writtenArchive({{"serialized_exported_program.json", graph.dump()},
                        {"serialized_state_dict.pt", testing::writtenTensors(weights)},
                        {"serialized_constants.pt", testing::writtenTensors({})},
                        {"serialized_example_inputs.pt", entry("sample_inputs/model.pt").data},
                        {"version", "8.2"}}));
    ASSERT_TRUE(old) << old.error().describe();
    EXPECT_EQ(old->schemaMinor, 2);
    EXPECT_THAT(old->notes, IsEmpty());
    expectOutputOfMlp(*old, "mlp");
    // The layout of torch 2.8: the same pickles in the folders of today.
    const auto between = readBytes(
        writtenArchive({{"m/models/model.json", entry("models/model.json").data},
                        {"m/data/weights/model.pt", testing::writtenTensors(weights)},
                        {"m/data/constants/model.pt", testing::writtenTensors({})},
                        {"m/data/sample_inputs/model.pt", entry("sample_inputs/model.pt").data}}));
    ASSERT_TRUE(between) << between.error().describe();
    expectOutputOfMlp(*between, "mlp");
}

/// KiB of memory that the process had at most so far.
long peakMemory() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}
constexpr long maxGrowth = 512 * 1024;

TEST(DamagedProgram, IsRefusedWhereItIsCutOff) {
    const long before = peakMemory();
    for (const std::string& name : programs) {
        const std::string bytes = readWhole(programPath(name + ".pt2"));
        for (std::size_t length = 0; length < bytes.size(); length += 97) {
            const auto program = readBytes(bytes.substr(0, length));
            ASSERT_FALSE(program) << name << " of " << length << " bytes";
            EXPECT_FALSE(program.error().what.empty());
        }
    }
    EXPECT_LT(peakMemory() - before, maxGrowth);
}

TEST(DamagedProgram, IsReadOrRefusedWithFlippedBytes) {
    const long before = peakMemory();
    std::mt19937_64 random(testSeed());
    std::size_t refused = 0;
    std::size_t read = 0;
    for (const std::string& name : programs) {
        const std::string sound = readWhole(programPath(name + ".pt2"));
        // Half of the bytes are changed behind the weights, where the archive's structure is.
        for (int round = 0; round < 100; ++round) {
            std::string bytes = sound;
            for (int i = 0; i < 1 + round % 4; ++i) {
                const std::size_t begin = round % 2 == 0 ? 0 : bytes.size() - 2000;
                bytes[begin + random() % (bytes.size() - begin)] = static_cast<char>(random());
            }
            const auto program = readBytes(bytes);
            if (!program) {
                EXPECT_FALSE(program.error().what.empty());
                ++refused;
                continue;
            }
            ++read;
            for (const auto& [weight, tensor] : program->tensors)
                if (tensor.owner != nullptr) {
                    EXPECT_EQ(storageProblem(tensor.type, tensor.bytes.size()), "");
                }
        }
    }
    EXPECT_GT(refused, 100u);
    EXPECT_GT(read, 100u);
    EXPECT_LT(peakMemory() - before, maxGrowth);
}

/// Flipped within the JSON and the pickle, behind sound checksums.
TEST_F(ChangedArchive, IsReadOrRefusedWithFlippedContents) {
    std::mt19937_64 random(testSeed());
    const std::vector<WrittenEntry> sound = entries;
    for (int round = 0; round < 600; ++round) {
        entries = sound;
        std::string& data = entry(round % 3 == 0   ? "models/model.json"
                                  : round % 3 == 1 ? "model_weights_config.json"
                                                   : "sample_inputs/model.pt")
                                .data;
        data[random() % data.size()] = static_cast<char>(random());
        const auto program = read();
        if (!program) {
            EXPECT_FALSE(program.error().what.empty());
        }
    }
}

TEST(KernelBench, IsReadWhole) {
    const char* folder = std::getenv("KERNELSKILL_KERNELBENCH");
    if (folder == nullptr || *folder == '\0')
        GTEST_SKIP() << "KERNELSKILL_KERNELBENCH names no folder of programs";
    std::size_t read = 0;
    for (const auto& file : fs::directory_iterator(folder)) {
        if (file.path().extension() != ".pt2")
            continue;
        SCOPED_TRACE(file.path().string());
        const auto program = readProgram(file.path());
        ASSERT_TRUE(program) << program.error().describe();
        EXPECT_FALSE(program->nodes.empty());
        for (const Limitation& limitation : limitations(*program))
            EXPECT_EQ(limitation.kind, Limitation::Kind::LeftOut) << limitation.sentence;
        ++read;
    }
    EXPECT_GT(read, 0u);
}

} // namespace
} // namespace kernelskill::engine::graph
