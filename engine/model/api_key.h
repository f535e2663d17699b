/// The key to a service. It goes into the header of a request and nowhere else.
#pragma once

#include "analysis/source/error.h"

#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Cannot be printed or compared by accident: only reveal() hands it out.
class ApiKey {
public:
    ApiKey() = default;
    /// InvalidInput for what cannot stand in a header. White space around it is dropped.
    [[nodiscard]] static Result<ApiKey> from(std::string_view text);
    /// Of the environment variable `variable`. Missing, naming the variable, when it is unset or
    /// empty. An empty `variable` gives an empty key.
    [[nodiscard]] static Result<ApiKey> fromEnvironment(const std::string& variable);

    [[nodiscard]] bool isEmpty() const { return key_.empty(); }
    [[nodiscard]] std::string_view reveal() const { return key_; }
    /// Whether `text` gives it away. Words of less than 8 letters ("none", "EMPTY") stand where a
    /// local service wants anything at all: they are no secret.
    [[nodiscard]] bool isIn(std::string_view text) const;
    /// `text` with the key replaced by "[key]".
    [[nodiscard]] std::string hiddenIn(std::string_view text) const;

private:
    std::string key_;
};

} // namespace kernelskill::engine
