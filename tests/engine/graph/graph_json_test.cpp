#include "analysis/source/json.h"
#include "engine/graph/extent_relation.h"
#include "engine/graph/graph_json.h"
#include "engine/graph/limitations.h"
#include "tests/engine/graph/archive_writer.h"
#include "tests/engine/graph/dynamic_programs.h"
#include "tests/engine/graph/exported_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine::graph {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The graph of the MLP: linear, layer_norm, gelu, linear_1, softmax.
class GraphJson : public ::testing::Test {
protected:
    json document = json::parse(testing::graphOf("mlp.pt2"));
    json& graph = document["graph_module"]["graph"];
    json& signature = document["graph_module"]["signature"];

    [[nodiscard]] Result<Program> read() const { return readGraph(document.dump(), "mlp"); }
    [[nodiscard]] Program sound() const {
        auto program = read();
        EXPECT_TRUE(program) << program.error().describe();
        return program ? *std::move(program) : Program{};
    }
    [[nodiscard]] static Program sound(const std::string& text) {
        auto program = readGraph(text, "written");
        EXPECT_TRUE(program) << program.error().describe();
        return program ? *std::move(program) : Program{};
    }
    [[nodiscard]] Error error() const {
        auto program = read();
        EXPECT_FALSE(program);
        return program ? Error{} : program.error();
    }
    json& sizesOf(const char* value) { return graph["tensor_values"][value]["sizes"]; }
    json& argumentsOf(std::size_t node) { return graph["nodes"][node]["inputs"]; }
};

TEST_F(GraphJson, ReadsNodesAndTypes) {
    const Program program = sound();
    EXPECT_EQ(program.torchVersion, "2.11.0+cu130");
    EXPECT_EQ(program.schemaMajor, 8);
    ASSERT_EQ(program.nodes.size(), 5u);
    const Node& norm = program.nodes[1];
    EXPECT_EQ(norm.name, "layer_norm");
    EXPECT_EQ(norm.target, "aten.layer_norm.default");
    EXPECT_EQ(norm.module, "n");
    ASSERT_EQ(norm.arguments.size(), 6u);
    EXPECT_EQ(std::get<ValueName>(norm.arguments[0].value).name, "linear");
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(norm.arguments[1].value),
              std::vector<std::int64_t>{96});
    EXPECT_EQ(std::get<double>(norm.arguments[4].value), 1e-5);
    EXPECT_FALSE(std::get<bool>(norm.arguments[5].value));
    EXPECT_EQ(norm.results, std::vector<std::vector<std::string>>{{"layer_norm"}});
    EXPECT_EQ(program.values.at("softmax").sizes, (std::vector<Extent>{{7, {}}, {10, {}}}));
    ASSERT_EQ(program.inputs.size(), 7u);
    EXPECT_EQ(program.inputs[0].kind, Input::Kind::Parameter);
    EXPECT_EQ(program.inputs[0].target, "a.weight");
    EXPECT_EQ(program.inputs[6].kind, Input::Kind::User);
    EXPECT_EQ(program.tensors.size(), 6u);
}

TEST_F(GraphJson, NamesTheNodeThatReadsWhatNothingDefines) {
    argumentsOf(2)[0]["arg"]["as_tensor"]["name"] = "nothing";
    EXPECT_THAT(error().what, HasSubstr("'nothing'"));
    EXPECT_THAT(error().where, HasSubstr("node 'gelu' (aten.gelu.default)"));
    // Defined, but only later.
    argumentsOf(2)[0]["arg"]["as_tensor"]["name"] = "softmax";
    EXPECT_THAT(error().what, HasSubstr("'softmax'"));
}

TEST_F(GraphJson, NamesTheNodeThatDefinesAgain) {
    graph["nodes"][3]["outputs"][0]["as_tensor"]["name"] = "gelu";
    EXPECT_THAT(error().what, HasSubstr("'gelu'"));
    EXPECT_THAT(error().where, HasSubstr("node 'linear_1' (aten.linear.default, module b)"));
}

TEST_F(GraphJson, NamesTheNodeWithTooManyResultsOrNoOperator) {
    graph["nodes"][2]["outputs"].push_back(graph["nodes"][2]["outputs"][0]);
    EXPECT_THAT(error().what, HasSubstr("2 results, where the operator has 1"));
    graph["nodes"][2]["target"] = "gelu; rm";
    EXPECT_THAT(error().what, HasSubstr("'gelu; rm' does not name an operator"));
    for (const char* target : {"torch.ops.aten..default", "gelu", "", "a.", ".b", "#x"}) {
        graph["nodes"][2]["target"] = target;
        EXPECT_THAT(error().what, HasSubstr("does not name an operator")) << target;
    }
}

TEST_F(GraphJson, NamesTheArgumentThatIsNone) {
    argumentsOf(1)[4]["arg"] = {{"as_floaty", 1}};
    EXPECT_THAT(error().what, HasSubstr("'as_floaty'"));
    EXPECT_THAT(error().where, AllOf(HasSubstr("node 'layer_norm'"), HasSubstr("'eps'")));
    argumentsOf(1)[4]["arg"] = {{"as_float", "seven"}};
    EXPECT_THAT(error().what, HasSubstr("a number is expected"));
    argumentsOf(1)[4]["arg"] = {{"as_float", 1.0}, {"as_int", 1}};
    EXPECT_THAT(error().what, HasSubstr("one member"));
    argumentsOf(1)[4]["arg"] = {{"as_scalar_type", 99}};
    EXPECT_THAT(error().what, HasSubstr("element type 99"));
    argumentsOf(1)[4]["arg"] = {{"as_memory_format", 9}};
    EXPECT_THAT(error().what, HasSubstr("memory format 9"));
}

TEST_F(GraphJson, ReadsNumbersThatJsonLacks) {
    argumentsOf(1)[4]["arg"] = {{"as_float", "-Infinity"}};
    EXPECT_EQ(std::get<double>(sound().nodes[1].arguments[4].value),
              -std::numeric_limits<double>::infinity());
}

TEST_F(GraphJson, TakesExtentsOfZero) {
    for (const char* value : {"x", "linear", "layer_norm", "gelu", "linear_1", "softmax"})
        sizesOf(value)[0] = {{"as_int", 0}};
    const Program program = sound();
    EXPECT_EQ(program.values.at("softmax").sizes[0].value, 0);
    EXPECT_TRUE(limitations(program).empty());
}

TEST_F(GraphJson, RefusesExtentsThatCannotBe) {
    sizesOf("gelu")[0] = {{"as_int", -1}};
    EXPECT_THAT(error().what, HasSubstr("the extent -1"));
    EXPECT_THAT(error().where, HasSubstr("value 'gelu'"));
    sizesOf("gelu")[0] = {{"as_int", std::int64_t{1} << 60}};
    EXPECT_THAT(error().what, HasSubstr("more elements than can be addressed"));
    // A product of 0, and an extent that overflows with another.
    sizesOf("gelu")[0] = {{"as_int", 18446744073709551615u}};
    EXPECT_THAT(error().what, HasSubstr("63 bits"));
    sizesOf("gelu")[0] = {{"as_int", 7}};
    graph["tensor_values"]["gelu"]["strides"].erase(0);
    EXPECT_THAT(error().what, HasSubstr("2 extents and 1 strides"));
    graph["tensor_values"]["gelu"]["layout"] = 1;
    EXPECT_EQ(error().kind, ErrorKind::Unsupported);
}

TEST_F(GraphJson, KeepsDynamicExtentsAsSymbols) {
    document = json::parse(testing::graphOf("mlp-dynamic.pt2"));
    const Program program = sound();
    EXPECT_EQ(program.values.at("x").sizes[0], (Extent{7, "s77"}));
    ASSERT_TRUE(program.symbols.contains("s77"));
    EXPECT_EQ(program.symbols.at("s77").low, 2);
    EXPECT_EQ(program.symbols.at("s77").high, 4096);
}

TEST_F(GraphJson, KeepsRangesOfExpressionsAsRelations) {
    document = json::parse(testing::graphOf("mlp-dynamic.pt2"));
    document["range_constraints"]["2*s77 + 1"] = {{"min_val", 5}, {"max_val", 999}};
    const Program program = sound();
    ASSERT_EQ(program.relations.size(), 2u);
    EXPECT_EQ(textOf(program.relations[0]), "5 <= 2*s77 + 1");
    EXPECT_EQ(textOf(program.relations[1]), "2*s77 + 1 <= 999");
    EXPECT_EQ(program.symbols.size(), 1u) << "an expression is no symbol";
}

TEST_F(GraphJson, DropsSymbolsThatNoExtentHas) {
    document = json::parse(testing::graphOf("mlp-dynamic.pt2"));
    document["range_constraints"]["s5"] = {{"min_val", 0}, {"max_val", nullptr}};
    EXPECT_FALSE(sound().symbols.contains("s5"));
}

TEST_F(GraphJson, NotesRangesThatCannotBeRead) {
    document["range_constraints"]["sin(s5)"] = {{"min_val", 0}, {"max_val", 9}};
    const Program program = sound();
    ASSERT_EQ(program.notes.size(), 1u);
    EXPECT_THAT(program.notes[0], AllOf(HasSubstr("'sin(s5)'"), HasSubstr("not understood")));
}

TEST_F(GraphJson, NotesConditionsInPython) {
    document["guards_code"] = {"L['x'].size()[0] % 8 == 0"};
    const auto found = limitations(sound());
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, Limitation::Kind::LeftOut);
    EXPECT_THAT(found[0].sentence, HasSubstr("'L['x'].size()[0] % 8 == 0' is not checked"));
}

TEST_F(GraphJson, KeepsAssertedConditions) {
    const Program program = sound(testing::exportedJson(testing::assertedLengths()));
    ASSERT_EQ(program.relations.size(), 1u);
    EXPECT_EQ(textOf(program.relations[0]), "s0 <= s1");
    EXPECT_EQ(program.relations[0].node, "check");
    EXPECT_TRUE(limitations(program).empty());
}

TEST_F(GraphJson, NamesConditionsThatAreNotRead) {
    document = json::parse(testing::exportedJson(testing::assertedLengths()));
    document["graph_module"]["graph"]["sym_bool_values"]["check_truth"] = {
        {"as_expr", {{"expr_str", "Or(Symbol('p'), Symbol('q'))"}}}};
    const auto found = limitations(sound());
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, Limitation::Kind::UnknownArgument);
    EXPECT_THAT(found[0].sentence, HasSubstr("node 'check' (aten._assert_scalar.default) asserts"));
}

TEST_F(GraphJson, ReadsWhatDynamicProgramsAreWrittenAs) {
    for (const testing::DynamicProgram& dynamic : testing::dynamicPrograms()) {
        SCOPED_TRACE(dynamic.name);
        const Program program = sound(testing::exportedJson(dynamic.program));
        ASSERT_EQ(program.values.size(), dynamic.program.values.size());
        for (const auto& [name, type] : dynamic.program.values) {
            EXPECT_EQ(program.values.at(name).sizes, type.sizes) << name;
            EXPECT_EQ(program.values.at(name).element, type.element) << name;
        }
        EXPECT_EQ(program.symbolicInts, dynamic.program.symbolicInts);
        EXPECT_EQ(program.nodes.size(), dynamic.program.nodes.size());
        for (const auto& [symbol, range] : dynamic.program.symbols) {
            EXPECT_EQ(program.symbols.at(symbol).low, range.low);
            EXPECT_EQ(program.symbols.at(symbol).high, range.high);
        }
        EXPECT_TRUE(limitations(program).empty());
    }
}

TEST_F(GraphJson, KeepsExtentsThatDependOnData) {
    sizesOf("gelu")[0] = {
        {"as_expr", {{"expr_str", "Symbol('u0', integer=True)"}, {"hint", nullptr}}}};
    const Program program = sound();
    EXPECT_EQ(program.values.at("gelu").sizes[0], (Extent{-1, "u0"}));
    EXPECT_TRUE(program.symbols.contains("u0"));
    const auto found = limitations(program);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, Limitation::Kind::DataDependent);
    EXPECT_EQ(found[0].node, "gelu");
}

TEST_F(GraphJson, NamesTheExtentThatCannotBeRead) {
    sizesOf("gelu")[0] = {{"as_expr", {{"expr_str", "Piecewise(1)"}, {"hint", nullptr}}}};
    EXPECT_THAT(error().what, HasSubstr("'Piecewise'"));
    EXPECT_THAT(error().where, HasSubstr("value 'gelu'"));
}

TEST_F(GraphJson, RefusesOtherVersionsOfTheSchema) {
    document["schema_version"] = {{"major", 9}, {"minor", 1}};
    EXPECT_EQ(error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(error().what, AllOf(HasSubstr("9.1"), HasSubstr("2.11.0+cu130")));
}

TEST_F(GraphJson, CallsANodeWithoutNameByItsResult) {
    for (json& node : graph["nodes"])
        node.erase("name");
    EXPECT_EQ(sound().nodes[4].name, "softmax");
}

TEST_F(GraphJson, ReadsInputsAndOutputsThatAreNoTensors) {
    signature["input_specs"].push_back(
        {{"constant_input", {{"name", "scale"}, {"value", {{"as_float", 3.5}}}}}});
    signature["input_specs"].push_back({{"token", {{"arg", {{"name", "token"}}}}}});
    signature["output_specs"].push_back({{"user_output", {{"arg", {{"as_none", true}}}}}});
    signature["output_specs"].push_back(
        {{"buffer_mutation", {{"arg", {{"name", "gelu"}}}, {"buffer_name", "seen"}}}});
    const Program program = sound();
    EXPECT_EQ(program.inputs[7].kind, Input::Kind::Fixed);
    EXPECT_EQ(std::get<double>(program.inputs[7].fixed), 3.5);
    EXPECT_EQ(program.inputs[8].kind, Input::Kind::Token);
    EXPECT_TRUE(program.outputs[1].value.empty());
    const auto found = limitations(program);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].kind, Limitation::Kind::Object);
    EXPECT_EQ(found[1].kind, Limitation::Kind::Mutation);
    EXPECT_EQ(found[1].node, "gelu");
    EXPECT_THAT(found[1].sentence, HasSubstr("written to the buffer 'seen'"));
    signature["output_specs"][1] = {{"user_output", {{"arg", {{"as_tensor", {{"name", "no"}}}}}}}};
    EXPECT_THAT(error().where, HasSubstr("output 2"));
    signature["input_specs"][0] = {{"parametre", json::object()}};
    EXPECT_THAT(error().where, HasSubstr("input 1"));
}

TEST_F(GraphJson, KeepsArgumentsOfOtherKinds) {
    argumentsOf(2).push_back(
        {{"name", "extra"}, {"arg", {{"as_complex", {{"real", 1}, {"imag", 2}}}}}});
    argumentsOf(2).push_back(
        {{"name", "nested"}, {"arg", {{"as_nested_tensors", {{{{"name", "linear"}}}}}}}});
    const Program program = sound();
    const auto found = limitations(program);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, Limitation::Kind::UnknownArgument);
    const auto& nested = std::get<OtherArgument>(program.nodes[2].arguments[2].value);
    EXPECT_EQ(nested.reads, std::vector<std::string>{"linear"});
    // Lists have to name defined values as well.
    argumentsOf(2)[2]["arg"] = {{"as_nested_tensors", {{{{"name", "nothing"}}}}}};
    EXPECT_THAT(error().what, HasSubstr("'nothing'"));
}

TEST_F(GraphJson, NamesEachPartThatIsMissing) {
    const json whole = document;
    for (const char* path :
         {"/graph_module", "/schema_version", "/graph_module/graph", "/graph_module/signature",
          "/graph_module/graph/nodes", "/graph_module/graph/tensor_values",
          "/graph_module/signature/input_specs", "/graph_module/graph/nodes/1/target",
          "/graph_module/graph/nodes/1/outputs", "/graph_module/graph/nodes/1/inputs/0/arg",
          "/graph_module/graph/tensor_values/gelu", "/graph_module/graph/tensor_values/gelu/sizes"})
        for (const json& replacement : {json(), json(7), json("text"), json::array()}) {
            document = whole;
            document[json::json_pointer(path)] = replacement;
            const Error found = error();
            EXPECT_FALSE(found.what.empty()) << path;
            EXPECT_THAT(found.where, HasSubstr("mlp")) << path;
        }
}

TEST(GraphText, IsRefusedWhereItIsNoJsonOrTooMuch) {
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("[1]"), std::string("nan"),
          std::string(1'000'000, '['),
          "{\"a\":" + std::string(300, '[') + std::string(300, ']') + "}"}) {
        const auto program = readGraph(text, "here");
        ASSERT_FALSE(program);
        EXPECT_EQ(program.error().kind, ErrorKind::InvalidInput);
    }
    std::string many = "[0";
    for (int i = 0; i < 4'000'001; ++i)
        many += ",0";
    const auto program = readGraph(many + "]", "here");
    ASSERT_FALSE(program);
    EXPECT_THAT(program.error().what, HasSubstr("more than 4000000 values"));
}

} // namespace
} // namespace kernelskill::engine::graph
