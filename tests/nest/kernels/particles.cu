struct Particle {
    float3 position;
    float3 velocity;
    float mass;
};

__global__ void particles_indexed(Particle* p, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        p[i].position.x += dt * p[i].velocity.x;
        p[i].position.y += dt * p[i].velocity.y;
        p[i].position.z += dt * p[i].velocity.z;
    }
}

__global__ void particles_reference(Particle* p, float dt, int n) {
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Particle& own = p[i];
    own.position.x = own.position.x + dt * own.velocity.x;
    own.position.y = own.position.y + dt * own.velocity.y;
    own.position.z = own.position.z + dt * own.velocity.z;
}

__device__ void drift(Particle* own, float dt) {
    own->position.x += dt * own->velocity.x;
    own->position.y += dt * own->velocity.y;
    own->position.z += dt * own->velocity.z;
}

__global__ void particles_called(Particle* p, float dt, int n) {
    const int step = blockDim.x * gridDim.x;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += step)
        drift(&p[i], dt);
}
