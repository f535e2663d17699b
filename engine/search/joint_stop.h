/// A stop token that stops when one of two does.
#pragma once

#include <functional>
#include <stop_token>
#include <utility>

namespace kernelskill::engine {

class JointStop {
public:
    JointStop(std::stop_token one, std::stop_token other)
        : onOne_(std::move(one), [this] { inner_.request_stop(); }),
          onOther_(std::move(other), [this] { inner_.request_stop(); }) {}

    [[nodiscard]] std::stop_token token() const { return inner_.get_token(); }

private:
    std::stop_source inner_;
    std::stop_callback<std::function<void()>> onOne_;
    std::stop_callback<std::function<void()>> onOther_;
};

} // namespace kernelskill::engine
