// The least that a worker can answer: what is measured is everything around it.
export default {
  fetch(): Response {
    return new Response("hello");
  },
};
