#include "engine/model/api_key.h"

#include "analysis/source/trimmed.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::size_t minSecretLength = 8;

} // namespace

Result<ApiKey> ApiKey::from(std::string_view text) {
    const std::string_view key = analysis::trimmed(text);
    if (!std::ranges::all_of(key, [](char c) { return c > ' ' && c < '\x7f'; }))
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "the key of the language model holds white space or "
                                     "letters that a key cannot have",
                                     {},
                                     "set the variable to the key alone"});
    ApiKey result;
    result.key_ = key;
    return result;
}

Result<ApiKey> ApiKey::fromEnvironment(const std::string& variable) {
    if (variable.empty())
        return ApiKey();
    const char* value = std::getenv(variable.c_str());
    auto key = from(value == nullptr ? "" : value);
    if (!key) {
        key.error().where = "$" + variable;
        return key;
    }
    if (key->isEmpty())
        return std::unexpected(
            Error{ErrorKind::Missing, "there is no key for the language model", "$" + variable,
                  "set the variable in the environment that the editor or the shell starts from, "
                  "or clear kernelskill.model.apiKeyVariable if the service wants no key"});
    return key;
}

bool ApiKey::isIn(std::string_view text) const {
    return key_.size() >= minSecretLength && text.find(key_) != std::string_view::npos;
}

std::string ApiKey::hiddenIn(std::string_view text) const {
    std::string result;
    while (isIn(text)) {
        const auto at = text.find(key_);
        result.append(text.substr(0, at)).append("[key]");
        text.remove_prefix(at + key_.size());
    }
    return result.append(text);
}

} // namespace kernelskill::engine
