#include "analysis/source/json.h"
#include "lsp-server/configuration/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace kernelskill::lsp {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Options, ReadsEverySettingOfTheTable) {
    json section = json::object();
    for (const OptionDescription& option : optionTable()) {
        std::string path = "/" + std::string(option.name);
        std::ranges::replace(path, '.', '/');
        json value;
        switch (option.field.index()) {
        case 0:
            value = !(Options{}.*std::get<0>(option.field));
            break;
        case 1:
            value = "text";
            break;
        case 2:
            value = json::array({"-DX"});
            break;
        case 3:
            value = 2.5;
            break;
        default:
            value = {{"small", {{"command", "./a"}}}};
        }
        section[json::json_pointer(path)] = value;
    }
    Options options;
    EXPECT_THAT(readOptions(section, options), ElementsAre());
    EXPECT_EQ(options.cudaPath, "text");
    EXPECT_THAT(options.fallbackFlags, ElementsAre("-DX"));
    EXPECT_TRUE(options.ignoreToolkit);
    EXPECT_FALSE(options.executionEnabled);
    EXPECT_FALSE(options.codeLensEnabled);
    EXPECT_EQ(options.modelMaxCost, 2.5);
    EXPECT_EQ(options.program.text, R"({"small":{"command":"./a"}})");
}

TEST(Options, LeavesWhatIsNotGiven) {
    Options options;
    options.cudaPath = "/from/the/command/line";
    EXPECT_THAT(readOptions(json::parse(R"({"codeLens": {"enabled": false}})"), options),
                ElementsAre());
    EXPECT_EQ(options.cudaPath, "/from/the/command/line");
    EXPECT_FALSE(options.codeLensEnabled);
}

TEST(Options, ReportsWrongTypesAndUnknownNames) {
    Options options;
    const auto problems = readOptions(
        json::parse(R"({"codeLens": {"enabled": "yes"}, "typo": 1, "parse": null})"), options);
    EXPECT_THAT(problems,
                ElementsAre(HasSubstr("kernelskill.codeLens.enabled must be of type boolean"),
                            HasSubstr("kernelskill.parse is not a setting"),
                            HasSubstr("kernelskill.typo is not a setting")));
    EXPECT_EQ(options, Options{});
}

TEST(Options, ReportWhatIsWrongInsideOfObjects) {
    Options options;
    EXPECT_THAT(readOptions(json::parse(R"({"program": {"a": {"comand": "x"}}})"), options),
                ElementsAre(HasSubstr("there is no `comand`")));
    options = {};
    EXPECT_THAT(readOptions(json::parse(R"({"program": ["x"]})"), options),
                ElementsAre(HasSubstr("kernelskill.program must be of type object")));
}

TEST(Options, SurviveASectionThatIsNoObject) {
    Options options;
    EXPECT_THAT(readOptions(json(7), options), ElementsAre());
    EXPECT_THAT(readOptions(json(nullptr), options), ElementsAre());
    EXPECT_EQ(options, Options{});
}

TEST(Options, TheSchemaDescribesEverySetting) {
    const json schema = configurationSchema();
    EXPECT_EQ(schema.size(), optionTable().size());
    for (const auto& [name, property] : schema.items()) {
        EXPECT_TRUE(name.starts_with("kernelskill."));
        EXPECT_TRUE(property.contains("default"));
        EXPECT_FALSE(property.at("description").get<std::string>().empty());
    }
    EXPECT_EQ(schema.at("kernelskill.parse.fallbackFlags").at("items").at("type"), "string");
    EXPECT_EQ(schema.at("kernelskill.program").at("default"), json::object());
}

} // namespace
} // namespace kernelskill::lsp
