#include "analysis/source/json.h"
#include "lsp-server/configuration/model_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::lsp {
namespace {

using ::testing::HasSubstr;

Options enabled() {
    Options options;
    options.modelEnabled = true;
    options.modelName = "m";
    return options;
}

TEST(ModelOptions, AreOffUnlessTheUserTurnsThemOnAndTrustsTheCode) {
    EXPECT_FALSE(modelSettings(Options{}, true)->isEnabled);
    EXPECT_TRUE(modelSettings(enabled(), true)->isEnabled);
    EXPECT_FALSE(modelSettings(enabled(), false)->isEnabled);
    Options withoutExecution = enabled();
    withoutExecution.executionEnabled = false;
    EXPECT_FALSE(modelSettings(withoutExecution, true)->isEnabled)
        << "what cannot be checked is not asked for";
}

TEST(ModelOptions, TheProvidersKeyGoesToTheProviderAlone) {
    Options options = enabled();
    EXPECT_EQ(modelSettings(options, true)->apiKeyVariable, "ANTHROPIC_API_KEY");
    options.modelProvider = "openai";
    EXPECT_EQ(modelSettings(options, true)->apiKeyVariable, "OPENAI_API_KEY");
    options.modelEndpoint = "http://localhost:8000/v1";
    EXPECT_EQ(modelSettings(options, true)->apiKeyVariable, "");
    options.modelKeyVariable = "MINE";
    EXPECT_EQ(modelSettings(options, true)->apiKeyVariable, "MINE");
}

TEST(ModelOptions, ZeroIsNoLimit) {
    Options options = enabled();
    options.modelMaxCalls = 0;
    options.modelMaxTokens = 1e30;
    options.modelMaxCost = 0.5;
    const auto settings = modelSettings(options, true);
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->budget.calls, std::nullopt);
    EXPECT_GT(settings->budget.tokens, 1'000'000'000u);
    EXPECT_EQ(settings->budget.cost, 0.5);
    EXPECT_TRUE(modelSettings(enabled(), true)->budget.calls) << "limited by default";
}

TEST(ModelOptions, RefuseOtherProvidersAndNumbersBelowZero) {
    Options options = enabled();
    options.modelProvider = "oracle";
    EXPECT_THAT(modelSettings(options, true).error().what, HasSubstr("'oracle'"));
    options = enabled();
    options.modelMaxCost = -1;
    EXPECT_EQ(modelSettings(options, true).error().kind, ErrorKind::InvalidInput);
}

TEST(ModelOptions, AreTheUsersAndNotTheWorkspaces) {
    const auto schema = configurationSchema();
    int count = 0;
    for (const auto& [name, property] : schema.items()) {
        if (!name.starts_with("kernelskill.model."))
            continue;
        ++count;
        EXPECT_EQ(property.at("scope"), "machine") << name;
    }
    EXPECT_EQ(count, 10);
    EXPECT_EQ(schema.at("kernelskill.model.enabled").at("default"), false);
    EXPECT_EQ(schema.at("kernelskill.model.maxCost").at("type"), "number");
}

} // namespace
} // namespace kernelskill::lsp
