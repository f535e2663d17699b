/// Settings become a model, or a sentence that says what is missing.
#include "engine/model/model_settings.h"
#include "tests/engine/model/local_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::LocalServer;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr const char* variable = "KERNELSKILL_TEST_MODEL_KEY";
constexpr const char* secret = "sk-test-0123456789abcdef";

class ModelSettingsTest : public ::testing::Test {
protected:
    ModelSettingsTest() { ::setenv(variable, secret, 1); }
    ~ModelSettingsTest() override { ::unsetenv(variable); }

    [[nodiscard]] Error errorOf(const ModelSettings& settings) const {
        const auto model = makeLanguageModel(settings);
        EXPECT_FALSE(model);
        const Error error = model ? Error{} : model.error();
        EXPECT_THAT(error.describe(), Not(HasSubstr(secret)));
        return error;
    }
    ModelSettings settings_{.isEnabled = true, .name = "m", .apiKeyVariable = variable};
};

TEST_F(ModelSettingsTest, OffIsMissing) {
    settings_.isEnabled = false;
    EXPECT_EQ(errorOf(settings_).kind, ErrorKind::Missing);
    EXPECT_EQ(errorOf({}).where, "kernelskill.model.enabled") << "off by default";
}

TEST_F(ModelSettingsTest, MakesTheModelThatIsMeant) {
    const auto anthropic = makeLanguageModel(settings_);
    ASSERT_TRUE(anthropic) << anthropic.error().describe();
    EXPECT_EQ((*anthropic)->name(), "anthropic m");
    settings_.provider = ModelProvider::OpenAi;
    EXPECT_EQ((*makeLanguageModel(settings_))->name(), "openai m");
    EXPECT_EQ(endpointOf(settings_), "https://api.openai.com/v1");
}

TEST_F(ModelSettingsTest, NamesTheVariableWithoutAKey) {
    ::unsetenv(variable);
    const Error error = errorOf(settings_);
    EXPECT_EQ(error.kind, ErrorKind::Missing);
    EXPECT_EQ(error.where, std::string("$") + variable);
    ::setenv(variable, "two words", 1);
    EXPECT_EQ(errorOf(settings_).kind, ErrorKind::InvalidInput);
    EXPECT_THAT(errorOf(settings_).describe(), Not(HasSubstr("two words")));
    ::setenv(variable, "sk-1\r\nx-evil: 1", 1);
    EXPECT_EQ(errorOf(settings_).kind, ErrorKind::InvalidInput);
}

TEST_F(ModelSettingsTest, AKeyGoesToAnotherMachineByHttpsAlone) {
    settings_.endpoint = "http://models.example.org/v1";
    EXPECT_THAT(errorOf(settings_).what, HasSubstr("unencrypted"));
    settings_.endpoint = "http://127.0.0.1:8000/v1";
    EXPECT_TRUE(makeLanguageModel(settings_));
    settings_.endpoint = "http://models.example.org/v1";
    settings_.apiKeyVariable.clear();
    EXPECT_TRUE(makeLanguageModel(settings_));
}

TEST_F(ModelSettingsTest, ALimitOnCostNeedsPrices) {
    settings_.budget.cost = 1.5;
    EXPECT_THAT(errorOf(settings_).what, HasSubstr("needs prices"));
    settings_.prices = {3, 15};
    EXPECT_TRUE(makeLanguageModel(settings_));
}

TEST_F(ModelSettingsTest, TheEditorsModelIsTheEditorsToGive) {
    settings_.provider = ModelProvider::Editor;
    EXPECT_THAT(errorOf(settings_).what, HasSubstr("this editor offers no language model"));
}

TEST_F(ModelSettingsTest, AProbeConnectsAndAsksNothing) {
    const LocalServer server({});
    settings_.endpoint = server.url();
    const auto found = probeLanguageModel(settings_, 2s, {});
    ASSERT_TRUE(found) << found.error().describe();
    EXPECT_THAT(*found, HasSubstr("can be reached"));
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(ModelSettingsTest, AProbeSaysThatNobodyIsThere) {
    {
        const LocalServer gone({});
        settings_.endpoint = gone.url();
    }
    const auto found = probeLanguageModel(settings_, 2s, {});
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().what, HasSubstr("cannot be reached"));
}

} // namespace
} // namespace kernelskill::engine
