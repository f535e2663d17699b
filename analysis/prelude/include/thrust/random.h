/// Thrust's random engines and distributions.
#pragma once

#include "kernelskill/standard_library.h"

namespace thrust {
namespace random {

/// x ← a x mod m; `minimal standard` unless said otherwise.
template <class T, T a, T c, T m> class linear_congruential_engine {
public:
    using result_type = T;
    static constexpr T min = c == 0 ? 1 : 0;
    static constexpr T max = m - 1;
    __host__ __device__ explicit linear_congruential_engine(T value = 1) { seed(value); }
    __host__ __device__ void seed(T value) { state_ = value % m == 0 && c == 0 ? 1 : value % m; }
    __host__ __device__ T operator()() {
        state_ = static_cast<T>((static_cast<unsigned long long>(state_) * a + c) % m);
        return state_;
    }
    __host__ __device__ void discard(unsigned long long count) {
        unsigned long long factor = a;
        unsigned long long power = 1;
        for (; count; count >>= 1, factor = factor * factor % m)
            if (count & 1)
                power = power * factor % m;
        state_ = static_cast<T>(state_ * power % m);
    }

private:
    T state_;
};
using minstd_rand = linear_congruential_engine<unsigned int, 48271u, 0u, 2147483647u>;
using minstd_rand0 = linear_congruential_engine<unsigned int, 16807u, 0u, 2147483647u>;
using default_random_engine = minstd_rand;
using taus88 = minstd_rand;

template <class Engine> __host__ __device__ double unit_interval(Engine& engine) {
    return (static_cast<double>(engine()) - Engine::min) / (static_cast<double>(Engine::max) - Engine::min + 1.0);
}
template <class T = double> class uniform_real_distribution {
public:
    __host__ __device__ explicit uniform_real_distribution(T low = 0, T high = 1) : low_(low), high_(high) {}
    template <class Engine> __host__ __device__ T operator()(Engine& engine) {
        return static_cast<T>(low_ + (high_ - low_) * unit_interval(engine));
    }

private:
    T low_, high_;
};
template <class T = int> class uniform_int_distribution {
public:
    __host__ __device__ explicit uniform_int_distribution(T low = 0, T high = std::numeric_limits<T>::max())
        : low_(low), high_(high) {}
    template <class Engine> __host__ __device__ T operator()(Engine& engine) {
        return static_cast<T>(low_ + (static_cast<double>(high_) - low_ + 1) * unit_interval(engine));
    }

private:
    T low_, high_;
};
template <class T = double> class normal_distribution {
public:
    __host__ __device__ explicit normal_distribution(T mean = 0, T deviation = 1) : mean_(mean), deviation_(deviation) {}
    template <class Engine> __host__ __device__ T operator()(Engine& engine) {
        const double radius = sqrt(-2.0 * log(1.0 - unit_interval(engine)));
        return static_cast<T>(mean_ + deviation_ * radius * cos(6.283185307179586 * unit_interval(engine)));
    }

private:
    T mean_, deviation_;
};

} // namespace random
using random::default_random_engine;
using random::minstd_rand;
using random::normal_distribution;
using random::uniform_int_distribution;
using random::uniform_real_distribution;
} // namespace thrust
